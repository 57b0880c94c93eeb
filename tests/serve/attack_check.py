# SPDX-License-Identifier: Apache-2.0
"""attack_check.py PROGRAM - a hostile page in Chromium, whose host leads here,
tries to send commands to the port of `holdfast serve`."""

import http.server
import sys
import threading
import time
import unittest

from browser import Browser
from server import Server

PROGRAM = sys.argv.pop()
HOST = "evil.example"
LIMIT_S = 60

PAGE = """<!doctype html><title>evil</title>
<form method="post" enctype="text/plain" target="frame">
<textarea name="&#10;SET form 1&#10;"></textarea></form>
<iframe name="frame"></iframe>"""

# Each sends a body to `to`; it is an error for the page, whatever happens.
SCRIPT = """const to = arguments[0], done = () => true;
const body = name => "SET " + name + " 1\\r\\nEVAL \\"return redis.call(" +
    "'set', '" + name + "', 2)\\" 0\\r\\n";
document.forms[0].action = to;
document.forms[0].submit();
navigator.sendBeacon(to, body("beacon"));
new WebSocket(to.replace("http", "ws"));
return Promise.allSettled([
    fetch(to, {method: "POST", mode: "no-cors", body: body("fetch")}),
    fetch(to, {method: "PUT", body: body("put")}),
    fetch(to, {mode: "no-cors"}),
    new Promise(resolve => {
        const request = new XMLHttpRequest();
        request.onloadend = resolve;
        request.open("POST", to);
        request.send(body("xhr"));
    })]).then(done)"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, *_):
        pass


class Attack(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM, "--listen", "127.0.0.1:0", log=True)
        self.addCleanup(self.server.close)
        address = self.server.process.stdout.readline().strip()
        self.port = address.rsplit(":", 1)[1]
        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.addCleanup(site.server_close)
        self.addCleanup(site.shutdown)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        self.site = f"http://{HOST}:{site.server_port}/"
        self.link = self.server.connect()
        self.addCleanup(self.link.close)

    def connections(self):
        """How many there have been, without ours."""
        info = self.link.ask("INFO", "stats").decode()
        return int(info.split("total_connections_received:")[1].split()[0]) - 1

    def test_a_page_cannot_send_commands(self):
        with Browser(f"--host-resolver-rules=MAP {HOST} 127.0.0.1") as browser:
            browser.open(self.site)
            self.assertTrue(browser.run(SCRIPT, f"http://{HOST}:{self.port}/"))
            until = time.monotonic() + LIMIT_S
            while self.connections() < 6:  # the form, the beacon, ...
                self.assertLess(time.monotonic(), until)
                time.sleep(0.05)
        self.assertEqual(self.link.ask("KEYS", "*"), [])
        log = self.server.process.stderr
        self.assertIn("any local user can read and write", log.readline())
        self.assertIn("requests of HTTP refused: 1, the last from 127.0.0.1:",
                      log.readline())


if __name__ == "__main__":
    unittest.main()
