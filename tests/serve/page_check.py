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

import http_server
from browser import Browser
from http_server import HOSTILE, TOKEN, Http, end_hold

PICTURES = None
PICTURES_S = 45
ROWS = """return Array.from(document.querySelectorAll("#rows tr"),
    row => row.querySelector(".name").textContent)"""
KEYS = """return Array.from(document.querySelectorAll("#key-rows tr"),
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
        return self.serve("--http-token-file", path, "--allow-edit")

    def log_in(self, server):
        self.browser.run(f"sessionStorage.setItem('token', '{TOKEN}')")
        self.addCleanup(self.browser.run, "sessionStorage.clear()")
        self.browser.open(f"http://127.0.0.1:{server.port}/")
        self.browser.console()

    def pick(self, key):
        self.awaits("const row = Array.from(document.querySelectorAll("
                    f"'#key-rows tr')).find(row => row.dataset.key === {key!r});"
                    "if (row) row.querySelector('button').click();"
                    "return Boolean(row)")
        self.awaits("return document.querySelector('#value') !== null")

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

    def fits_each_width(self):
        """Nothing of the page is wider than the window."""
        for width in (1280, 390, 320):
            self.browser.look(width, 800, "dark")
            self.assertLessEqual(self.browser.run(
                "return document.documentElement.scrollWidth"), width)
        self.browser.look(1280, 900, "light")

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
        self.fits_each_width()
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
    def fill(link):
        """Keys of each type, some with hostile names and values."""
        for i in range(250):
            link.ask("XADD", "events", f"{i + 1}-0", "kind", "<script>", "at", i)
        link.ask("SELECT", 3)
        link.ask("SET", "third", "of database 3")
        link.ask("SELECT", 0)
        link.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
        for i in range(40):
            link.ask("HSET", f"user:{i}", "name", f"Ann {i}", "mail",
                     f"ann{i}@example.com", "<b>bold</b>", b"\xff\xfe\x01",
                     "notes", "lorem ipsum " * 200)
            link.ask("SET", f"session:{i}", '{"user": %d, "cart": [1, 2]}' % i,
                     "EX", 600 + i)
        for i in range(300):
            link.ask("RPUSH", "jobs:mail", f"job {i}")
            link.ask("ZADD", "scores", i, f"player {i}")
        link.ask("SET", b"<img src=x onerror=alert(1)>", "x" * 100000)
        link.ask("SET", b"\xff\xfe\x01", b"\x00\xff")
        link.ask("GET", "none")
        link.ask("CONFIG", "SET", "slowlog-log-slower-than", "10000")

    def see(self, tab):
        self.click(f"nav [data-tab={tab}]")

    def match(self, pattern):
        self.browser.run("const match = document.querySelector('#match');"
                         "match.value = arguments[0];"
                         "match.dispatchEvent(new Event('input'))", pattern)

    def test_keys_are_browsed_by_prefix_and_shown(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        self.fill(link)
        self.log_in(server)
        self.see("keys")
        self.awaits(KEYS + ".length >= 80")
        self.match("scor")
        self.awaits(KEYS + ".join()", "scores")
        self.assertEqual(self.text("#key-count"), "1 key")
        self.click("#key-rows button")
        self.awaits("return document.querySelectorAll('#value dd').length", 100)
        self.click("#value .more")
        self.awaits("return document.querySelectorAll('#value dd').length", 200)
        self.assertIn("300 members", self.text("#key .where"))
        self.assertQuiet()

    def test_entries_of_a_stream_are_shown(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        self.fill(link)
        self.log_in(server)
        self.see("keys")
        self.pick("sevents")
        self.awaits("return document.querySelectorAll('#value dt').length", 100)
        self.assertIn("250 entries", self.text("#key .where"))
        self.assertEqual(self.text("#value dt"), "1-0")
        self.assertEqual(self.text("#value dd"), "kind<script>at0")
        self.click("#value .more")
        self.awaits("return document.querySelectorAll('#value dt').length", 200)
        self.click("#value .more")
        self.awaits("return document.querySelectorAll('#value dt').length", 250)
        self.assertEqual(self.browser.run(
            "return document.querySelectorAll('#value .more').length"), 0)
        self.assertQuiet()

    def test_a_database_is_chosen(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        self.fill(link)
        self.log_in(server)
        self.see("keys")
        self.awaits("return document.querySelector('#database').textContent"
                    ".includes('Database 3 \u00b7 1 key')")
        self.pick("sscores")
        self.browser.run("const box = document.querySelector('#database');"
                         "box.value = '3';"
                         "box.dispatchEvent(new Event('change'))")
        self.awaits(KEYS + ".join()", "third")
        self.assertTrue(self.browser.run(
            "return document.querySelector('#key').hidden"))
        self.pick("sthird")
        self.awaits("return document.querySelector('#value').textContent",
                    "of database 3")
        self.click("#key .buttons button:nth-child(3)")
        self.click("#ask-key-do")
        self.awaits(KEYS, [])
        link.ask("SELECT", 3)
        self.assertEqual(link.ask("DBSIZE"), 0)
        self.assertQuiet()

    def test_hostile_keys_are_shown_as_text(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        self.fill(link)
        self.log_in(server)
        self.see("keys")
        self.awaits(KEYS + ".includes('<img src=x onerror=alert(1)>')")
        self.awaits(KEYS + ".includes('\\\\xff\\\\xfe\\\\x01')")
        for key, shown in (("user:7", "<b>bold</b>"), ("user:7", "\\xff\\xfe"),
                           ("events", "<script>"),
                           ("<img src=x onerror=alert(1)>", "x" * 4000)):
            self.pick("s" + key)
            self.awaits("return document.querySelector('#value').textContent"
                        f".includes({shown!r})")
        self.assertEqual(self.browser.run(
            "return document.querySelectorAll('#keys img, #keys b, "
            "#keys script').length"), 0)
        self.fits_each_width()
        self.assertQuiet()

    def test_a_key_is_edited_and_deleted(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        link.ask("SET", "a", "old")
        self.log_in(server)
        self.see("keys")
        self.awaits(KEYS + ".join()", "a")
        self.pick("sa")
        self.awaits("return document.querySelectorAll('#key .buttons button')"
                    ".length", 3)
        self.click("#key .buttons button")
        self.browser.run("document.querySelector('#ask-key-text').value = "
                         "'n\\u00e9w'")
        self.click("#ask-key-do")
        self.awaits("return document.querySelector('#value').textContent",
                    "n\u00e9w")
        self.assertEqual(link.ask("GET", "a"), "n\u00e9w".encode())
        self.click("#key .buttons button:nth-child(2)")
        self.browser.run("document.querySelector('#ask-key-text').value = "
                         "'100'")
        self.click("#ask-key-do")
        self.awaits("return /expires in/.test(document.querySelector("
                    "'#key .where').textContent)")
        self.assertIn(link.ask("TTL", "a"), range(80, 101))
        self.click("#key .buttons button:nth-child(3)")
        self.click("#ask-key-do")
        self.awaits(KEYS, [])
        self.assertEqual(link.ask("EXISTS", "a"), 0)
        self.assertQuiet()

    def test_an_answer_that_comes_late_is_for_its_own_dialog(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        link.ask("MSET", "one", "1", "two", "2")
        self.log_in(server)
        self.see("keys")
        self.pick("sone")
        self.browser.run("""
            const real = window.fetch;
            window.sent = window.answered = 0;
            window.fetch = async (path, how) => {
                if (path !== "/delete")
                    return real(path, how);
                window.sent++;
                await new Promise(done => { window.goOn = done; });
                const answer = await real(path, how);
                setTimeout(() => window.answered++, 100);
                return answer;
            };""")
        self.click("#key .buttons button:last-child")
        self.assertEqual(self.text("#ask-key-where"), "in database 0")
        self.click("#ask-key-do")
        self.click("#ask-key-do")  # a double click
        self.assertEqual(self.browser.run("return window.sent"), 1)
        self.click("#ask-key-cancel")
        self.pick("stwo")
        self.click("#key .buttons button")
        self.browser.run("window.goOn()")
        self.awaits("return window.answered", 1)
        self.assertEqual(self.browser.run(
            "return [document.querySelector('#ask-key').open,"
            "document.querySelector('#ask-key-do').disabled,"
            "document.querySelector('#key').hidden]"), [True, False, False])
        self.assertEqual(link.ask("MGET", "one", "two"), [None, b"2"])
        state = "return document.querySelector('#state').textContent"
        self.awaits(state, "Delete this key? one: done")
        self.awaits(KEYS + ".join()", "two")
        self.click("#ask-key-cancel")
        self.click("#key .buttons button:last-child")
        self.click("#ask-key-do")
        self.click("#ask-key-cancel")
        link.ask("DEL", "two")
        link.ask("RPUSH", "two", "of another type")
        link.ask("SET", "three", "3")
        self.browser.run("window.goOn()")
        self.awaits(state, "Delete this key? two: "
                    "the key has another type than was shown")
        self.awaits(KEYS + ".sort().join()", "three,two")
        self.assertQuiet("409 (Conflict)")

    def test_tabs_and_the_key_are_reached_by_keyboard(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        link.ask("SET", "a", "1")
        self.log_in(server)
        self.assertEqual(self.browser.run(
            "return Array.from(document.querySelectorAll('nav button'), tab =>"
            "document.getElementById(tab.getAttribute('aria-controls'))"
            ".getAttribute('aria-labelledby') === tab.id)"), [True] * 5)
        for tab, focused in (("keys", "match"), ("overview", "filter"),
                             ("clients", "tab-clients")):
            self.browser.run(f"document.querySelector('#tab-{tab}').focus()")
            self.see(tab)
            self.browser.press("/")
            self.assertEqual(self.browser.run(
                "return document.activeElement.id"), focused)
        self.see("keys")
        self.pick("sa")
        self.assertEqual(self.browser.run(
            "return document.activeElement.id"), "key")
        self.assertQuiet()

    def test_a_lock_and_what_belongs_to_it_have_no_buttons(self):
        server = self.serve_with_token()
        self.hold(server, "job")
        self.log_in(server)
        self.awaits(ROWS, ["job"])
        self.see("keys")
        for key, why in (("sjob", "Overview can break it"),
                         ("shf:token", "belongs to Holdfast")):
            self.pick(key)
            self.awaits("return document.querySelector('#key .where')"
                        f".textContent.includes('{why}')")
            self.assertEqual(self.browser.run(
                "return document.querySelectorAll('#key .buttons').length"), 0)
        self.assertQuiet()

    def test_values_are_shown_as_written_and_not_overwritten(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        link.ask("SET", "json", '{"id":9007199254740993,"a":1.0,"a":[]}')
        link.ask("SET", "lines", "a\r\nb")
        self.log_in(server)
        self.see("keys")
        self.awaits(KEYS + ".length", 2)
        self.pick("slines")
        self.awaits("return document.querySelectorAll('#key .buttons button')"
                    ".length", 2)  # no Edit
        self.pick("sjson")
        self.awaits("return document.querySelector('#value').textContent",
                    '{\n  "id": 9007199254740993,\n  "a": 1.0,\n  "a": []\n}')
        self.click("#key .buttons button")
        link.ask("SET", "json", "theirs")
        self.click("#ask-key-do")
        self.awaits("return document.querySelector('#ask-key-error')"
                    ".textContent.includes('changed since')")
        self.assertEqual(link.ask("GET", "json"), b"theirs")
        self.assertQuiet("409 (Conflict)")

    def test_without_a_token_the_page_says_why_it_shows_no_keys(self):
        self.serve()
        self.awaits("return document.querySelector('#state').textContent",
                    "live")
        self.see("keys")
        self.awaits("return document.querySelector('#key-hint').textContent"
                    ".includes('--http-token-file')")
        self.assertQuiet("403 (Forbidden)")

    def test_clients_slow_log_and_server(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        link.ask("CLIENT", "SETNAME", "importer")
        self.fill(link)
        self.log_in(server)
        self.see("clients")
        self.awaits("return document.querySelector('#client-rows').textContent"
                    ".includes('importer')")
        self.see("slow")
        self.awaits("return document.querySelector('#slow-rows').textContent"
                    ".includes('ZADD scores')")
        self.see("server")
        self.awaits("return document.querySelector('#server-cards').textContent"
                    ".includes('Keys and values')")
        self.assertQuiet()

    def test_the_first_view_has_all_figures(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        self.fill(link)
        self.log_in(server)
        self.awaits("return document.querySelector('#state').textContent",
                    "live")
        figures = self.browser.run(
            "return Array.from(document.querySelectorAll('.figure'), "
            "figure => figure.textContent)")
        self.assertEqual(len(figures), 6)
        for figure in figures:
            self.assertRegex(figure, r"^[\d<]")
        self.awaits("return document.querySelector('#charts b').textContent"
                    ".includes('/s')")
        self.assertIn("No problems", self.text("#health"))
        self.assertQuiet()

    def test_a_clock_that_is_ahead_does_not_empty_the_charts(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        link.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
        link.ask("GET", "none")
        self.log_in(server)
        self.browser.run("""
            const now = Date.now, real = window.fetch;
            Date.now = () => now() + 7200000;
            window.fetch = async (path, how) => {
                const answer = await real(path, how);
                if (path !== "/history")
                    return answer;
                const {points} = await answer.json();
                return new Response(JSON.stringify({points: [3, 2, 1, 0].map(
                    i => ({...points[0], at_ms: points[0].at_ms - 10000 * i}))}));
            };""")
        self.awaits("if (view) showHistory();"
                    "return CHARTS.map(chart => chart.points.length).join()",
                    "5,5,5,5")
        self.see("slow")
        self.awaits("return document.querySelectorAll('#slow-rows tr').length"
                    " > 0")
        self.assertNotIn("2 h", self.text("#slow-rows"))
        self.assertQuiet()

    def test_health_says_what_is_wrong(self):
        server = self.serve_with_token()
        link = server.connect()
        self.addCleanup(link.close)
        for _ in range(2000):
            link.ask("LPUSH", "a")
        self.log_in(server)
        self.awaits("return document.querySelector('#health').className",
                    "warn")
        self.assertIn("of the commands fail", self.text("#health"))
        self.assertQuiet()

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
            waits = subprocess.Popen([http_server.PROGRAM, "--store",
                                      server.store, "run", name, "true"])
            self.addCleanup(waits.wait)
            self.addCleanup(waits.terminate)
        busy = subprocess.Popen(
            ["sh", "-c", "for i in 1 2 3; do while :; do \"$@\"; done & done; "
             "trap 'kill 0' TERM; wait", "sh", http_server.PROGRAM, "--store",
             server.store, "run", "counter", "--", "sleep", "0.5"],
            start_new_session=True)
        self.addCleanup(os.killpg, busy.pid, 9)
        self.browser.run(f"sessionStorage.setItem('token', '{TOKEN}')")
        self.browser.open(f"http://127.0.0.1:{server.port}/")
        self.fill(server.connect())
        threading.Thread(target=self.load, args=(link,), daemon=True).start()
        time.sleep(PICTURES_S)
        for tab in ("overview", "keys", "clients", "slow", "server"):
            self.click(f"nav [data-tab={tab}]")
            time.sleep(1.5)
            if tab == "keys":
                self.match("user:")
                self.pick("suser:7")
            for scheme in ("light", "dark"):
                for width, height in ((1280, 900), (390, 844)):
                    self.browser.look(width, height, scheme)
                    time.sleep(0.5)
                    self.browser.picture(os.path.join(
                        PICTURES, f"{tab}-{scheme}-{width}.png"))
        self.browser.look(1280, 900, "light")
        self.click("nav [data-tab=overview]")
        self.click("td.act button")
        self.browser.picture(os.path.join(PICTURES, "break.png"))


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.isdir(sys.argv[-1]):
        PICTURES = sys.argv.pop()
    unittest.main()
