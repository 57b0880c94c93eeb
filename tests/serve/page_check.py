# SPDX-License-Identifier: Apache-2.0
"""page_check.py PROGRAM [PICTURES] - the page of serve --http in Chromium; with
PICTURES also how it looks, as PNG files in that folder."""

import contextlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import http_test
from browser import Browser
from http_test import HOSTILE, TOKEN, Http, end_hold

PICTURES = None
ROWS = """return Array.from(document.querySelectorAll("#rows tr"),
    row => row.querySelector(".name").textContent)"""
LIMIT_S = 60


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.browser = cls.enterClassContext(Browser())
        cls.browser.look(1280, 900, "light")

    def serve(self, *options):
        server = Http(*options)
        self.addCleanup(server.close)
        self.browser.console()
        self.browser.open(f"http://127.0.0.1:{server.port}/")
        return server

    def serve_with_token(self):
        path = os.path.join(self.folder, "token")
        with open(path, "w", encoding="ascii") as file:
            file.write(TOKEN + "\n")
        return self.serve("--http-token-file", path, "--allow-break")

    def hold(self, server, name, *options):
        held = server.hold(name, *options)
        self.addCleanup(end_hold, held)
        return held

    def awaits(self, script, *wanted):
        """Until a script returns one of these values, or what is true."""
        until = time.monotonic() + LIMIT_S
        while True:
            got = self.browser.run(script)
            if got in wanted or not wanted and got:
                return got
            self.assertLess(time.monotonic(), until, f"{script}: {got}")
            time.sleep(0.05)

    def text(self, selector):
        return self.browser.run(
            f"return document.querySelector({selector!r}).textContent")

    def click(self, selector):
        self.browser.run(f"document.querySelector({selector!r}).click()")

    def assertQuiet(self, *expected):
        """Nothing is in the console but lines with these words."""
        for line in self.browser.console():
            self.assertTrue(any(words in line for words in expected), line)

    def test_a_lock_appears_and_disappears(self):
        server = self.serve()
        self.awaits("return document.querySelector('#state').textContent",
                    "live")
        self.awaits(ROWS, [])
        self.assertIn("No lock is held", self.text("#empty"))
        held = server.hold("job")
        self.awaits(ROWS, ["job"])
        self.assertEqual(self.text("#figures .figure"), "1")
        self.assertIn("pid ", self.text("#rows .where"))
        end_hold(held)
        self.awaits(ROWS, [])
        self.assertQuiet()

    def test_names_are_shown_as_text(self):
        server = self.serve()
        for name in HOSTILE:
            self.hold(server, name)
        self.awaits(ROWS + ".length", len(HOSTILE))
        self.assertEqual(sorted(self.browser.run(ROWS)), sorted((
            "<script>alert(1)</script>", "\\xff\\xfe\\x01", "\\u202eab",
            "x" * 300 + " … 3796 more")))
        self.assertEqual(self.browser.run(
            "return document.scripts.length"), 1)
        for width in (1280, 390, 320):
            self.browser.look(width, 800, "dark")
            self.assertLessEqual(self.browser.run(
                "return document.documentElement.scrollWidth"), width)
        self.browser.look(1280, 900, "light")
        self.assertQuiet()

    def test_rows_are_sorted_and_filtered_by_keyboard(self):
        server = self.serve()
        for name in ("b", "c", "a"):
            self.hold(server, name)
        self.awaits(ROWS + ".sort().join()", "a,b,c")
        self.browser.run("document.querySelector('th button').focus()")
        self.browser.press("\ue006")  # Return
        self.assertEqual(self.browser.run(ROWS), ["a", "b", "c"])
        self.browser.press("\ue006")
        self.assertEqual(self.browser.run(ROWS), ["c", "b", "a"])
        self.assertEqual(self.browser.run(
            "return document.querySelector('th').ariaSort"), "descending")
        self.browser.press("/", "b")
        self.assertEqual(self.browser.run(ROWS), ["b"])
        self.assertEqual(self.text("#count"), "1 of 3")
        self.assertQuiet()

    def test_a_server_that_comes_back_is_followed_again(self):
        server = self.serve()
        self.awaits("return document.querySelector('#state').textContent",
                    "live")
        server.process.kill()
        self.awaits("return document.querySelector('#state').textContent",
                    "connection ended", "no connection")
        again = Http(http=str(server.port))
        self.addCleanup(again.close)
        self.awaits("return document.querySelector('#state').textContent",
                    "live")
        self.assertQuiet("net::ERR")

    def test_a_break_asks_for_the_token_and_a_confirmation(self):
        server = self.serve_with_token()
        held = server.hold(HOSTILE[1])
        for token in ("wrong-" * 4, TOKEN):
            self.awaits("return document.querySelector('#ask-token').open")
            self.browser.press(*token, "\ue006")
            self.awaits("return document.querySelector('#token-error')"
                        ".textContent", "That token is not valid.")
        self.awaits(ROWS, ["\\xff\\xfe\\x01"])
        self.click("td.act button")
        self.assertEqual(self.text("#break-name"), "\\xff\\xfe\\x01")
        self.browser.press("\ue00c")  # Escape
        self.awaits("return !document.querySelector('#ask-break').open")
        self.click("td.act button")
        self.click("#ask-break .main")
        self.awaits(ROWS, [])
        held.terminate()
        end_hold(held)
        self.assertQuiet("401 (Unauthorized)")

    @staticmethod
    def load(link):
        """Commands until the server ends."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                for _ in range(random.randrange(20, 200)):
                    link.ask("INCR", "n")
                time.sleep(0.2)

    def test_pictures(self):
        if not PICTURES:
            return
        server = self.serve_with_token()
        link = server.connect()
        for name, *options in ((b"report:nightly",), (b"orders/4711",),
                               (b"catalogue", "-s"), (b"catalogue", "-s"),
                               (b"uploads", "--slots", "5"),
                               (b"import/part-0042", "--ttl", "5"),
                               HOSTILE[:1], HOSTILE[1:2], HOSTILE[2:3]):
            self.hold(server, name, *options)
        for name in ("report:nightly", "report:nightly", "orders/4711"):
            waits = subprocess.Popen([http_test.PROGRAM, "--store",
                                      server.store, "run", name, "true"])
            self.addCleanup(waits.wait)
            self.addCleanup(waits.terminate)
        busy = subprocess.Popen(
            ["sh", "-c", "for i in 1 2 3; do while :; do \"$@\"; done & done; "
             "trap 'kill 0' TERM; wait", "sh", http_test.PROGRAM, "--store",
             server.store, "run", "counter", "--", "sleep", "0.5"],
            start_new_session=True)
        self.addCleanup(os.killpg, busy.pid, 9)
        self.browser.run(f"sessionStorage.setItem('token', '{TOKEN}')")
        self.browser.open(f"http://127.0.0.1:{server.port}/")
        threading.Thread(target=self.load, args=(link,), daemon=True).start()
        time.sleep(45)
        for scheme in ("light", "dark"):
            for width, height in ((1280, 900), (390, 844)):
                self.browser.look(width, height, scheme)
                time.sleep(1.5)
                self.browser.picture(os.path.join(
                    PICTURES, f"{scheme}-{width}.png"))
        self.browser.look(1280, 900, "light")
        self.click("td.act button")
        self.browser.picture(os.path.join(PICTURES, "break.png"))


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.isdir(sys.argv[-1]):
        PICTURES = sys.argv.pop()
    unittest.main()
