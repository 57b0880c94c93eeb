# SPDX-License-Identifier: Apache-2.0
"""http_test.py PROGRAM - serve --http: what is served, and to whom."""

import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import openmetrics
from http_server import (BEARER, HOSTILE, PROGRAM, TOKEN, Http, await_that,
                         end_hold, name_of, read_event)
from server import TIMEOUT, slower


def fill(server, link):
    """With so many keys that no view waits as long as a sample of the locks
    takes, which is 0.25 s; how long it does, s."""
    count = took = 0
    while took < 0.75:
        for first in range(count, count + 300000, 10000):
            link.ask("EVAL", "for i = ARGV[1], ARGV[1] + 9999 do "
                     "redis.call('SET', 'k' .. i, i) end", 0, first)
        count += 300000
        began = time.monotonic()
        subprocess.run([PROGRAM, "--store", server.store, "lock", "list"],
                       check=True)
        took = time.monotonic() - began
    return took


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Http()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.close() == 0

    def test_locks_are_json_whatever_their_names(self):
        held = [self.server.hold(name) for name in HOSTILE]
        await_that(lambda: set(HOSTILE) <= {
            name_of(lock) for lock in self.server.locks()})
        for process in held:
            self.assertEqual(end_hold(process), 0)

    def test_events_show_locks_come_and_go(self):
        link = self.server.raw(b"GET /events HTTP/1.0\r\n"
                               b"Host: localhost\r\n\r\n")
        with link, link.makefile("rb") as file:
            self.assertIn(b" 200 ", file.readline())
            held = None
            for wanted in (True, False):
                while any(lock["name"] == "a" for lock in
                          read_event(file)["locks"]) != wanted:
                    held = held or self.server.hold("a")
                if wanted:
                    self.assertEqual(end_hold(held), 0)

    def test_a_lease_that_ran_out_is_a_loss_and_a_hand_over_is_not(self):
        def counts():
            view = json.loads(self.server.get("/locks")[2])
            return view["hand_overs"], view["losses"]

        busy = [subprocess.Popen(
            [PROGRAM, "--store", self.server.store, "run", "busy", "--",
             "sleep", "0.4"]) for _ in range(8)]
        hand_overs, losses = counts()
        await_that(lambda: counts() and all(
            process.poll() is not None for process in busy))
        # A machine without time for a second really loses one: 76 says so.
        lost = sum(process.returncode == 76 for process in busy)
        self.assertLessEqual(counts()[1] - losses, lost)
        self.assertGreater(counts()[0], hand_overs)
        samples = openmetrics.read(self.server.get("/metrics")[2].decode())
        self.assertGreater(samples["holdfast_lock_wait_seconds_count", ""], 0)
        self.assertGreater(samples["holdfast_lock_wait_seconds_sum", ""], 0.3)
        dies = self.server.hold("dies", "--ttl", "3")
        await_that(lambda: any(lock["name"] == "dies"
                               for lock in self.server.locks()))
        dies.kill()
        end_hold(dies)
        await_that(lambda: counts()[1] > losses)

    def test_metrics_are_openmetrics(self):
        link = self.server.connect()
        for _ in range(100):
            link.ask("SET", "a", "b")
        link.ask("INCR", "a")
        link.close()
        await_that(lambda: b'"incr"' in self.server.get("/metrics")[2])
        _, headers, body = self.server.get("/metrics")
        samples = openmetrics.read(body.decode())
        self.assertIn("application/openmetrics-text; version=1.0.0",
                      headers["Content-Type"])
        self.assertEqual(samples["holdfast_up", ""], 1)
        self.assertEqual(
            [samples[f"holdfast_{name}", f'command="{command}"']
             for name in ("commands_total", "command_errors_total")
             for command in ("set", "incr")], [100, 1, 0, 1])
        self.assertGreaterEqual(
            samples["holdfast_command_seconds_count", 'command="set"'], 1)
        self.assertGreaterEqual(samples["holdfast_round_units_sum", ""], 101)
        self.assertGreaterEqual(samples["holdfast_received_bytes_total", ""],
                                100 * len("SET a b"))
        self.assertGreater(samples["holdfast_store_used_bytes", ""], 0)

    def test_headers_forbid_what_the_page_does_not_need(self):
        for path in ("/", "/locks", "/metrics", "/nothing"):
            _, headers, _ = self.server.get(path)
            policy = headers["Content-Security-Policy"]
            self.assertTrue(policy.startswith("default-src 'none'; "))
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cache-Control"], "no-store")

    def test_only_get_and_head(self):
        status, headers, body = self.server.get("/metrics", "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 0)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"):
            status, headers, _ = self.server.get("/locks", method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
        self.assertEqual(self.server.status("/break?name=a", "POST"), 405)
        self.assertEqual(self.server.status("/break?name=a"), 404)

    def test_paths_are_exact(self):
        for path in ("/../../etc/passwd", "/%2e%2e/x", "//", "/locks/",
                     "/LOCKS", "/metrics%2f"):
            self.assertEqual(self.server.status(path), 404, path)

    def test_other_sites_are_refused(self):
        for host in ("example.com", "127.0.0.1.example.com", "10.0.0.1", "",
                     "localhost.", "[::2]:80", "x" * 300):
            self.assertEqual(self.server.status("/", Host=host), 421, host)
        for host in ("localhost", "LocalHost:99", "127.1.2.3:80", "[::1]:80"):
            self.assertEqual(self.server.status("/", Host=host), 200, host)
        for site, status in (("cross-site", 403), ("same-site", 403),
                             ("same-origin", 200), ("none", 200)):
            self.assertEqual(
                self.server.status("/locks", Sec_Fetch_Site=site), status)
        self.assertEqual(self.server.status("/", Sec_Fetch_Site="cross-site"),
                         200)

    def test_what_is_no_request_is_refused(self):
        for data in (b"\1\2 \3\r\n\r\n", b"GET\r\n\r\n", b"* * *\r\n\r\n",
                     b"GET / HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\n"
                     b"hOST: localhost\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nA: " +
                     b"a" * 100000 + b"\r\n\r\n",
                     b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nHost: localhost\r\n"
                     b"Content-Length: 99999999999999\r\n\r\n"):
            with self.server.raw(data[:70000]) as link:
                try:
                    link.sendall(data[70000:])
                    answer = link.recv(12)
                except ConnectionError:
                    answer = b""
            self.assertIn(answer[9:10], (b"4", b""), data[:40])
        self.assertEqual(self.server.status("/"), 200)


class Limits(unittest.TestCase):
    def setUp(self):
        self.server = Http()
        self.addCleanup(self.server.close)

    def test_a_reader_that_is_stuck_costs_no_memory(self):
        held = [self.server.hold(bytes([b]) * 4000) for b in b"abcdefgh"]
        stuck = [self.server.raw(b"GET /events HTTP/1.1\r\n"
                                 b"Host: localhost\r\n\r\n")
                 for _ in range(40)]
        refused = 0
        for link in stuck:
            refused += b" 503 " in link.recv(20)
        self.assertEqual(refused, 8)
        before = self.server.memory()
        time.sleep(3)
        self.assertLess(self.server.memory(),
                        before + 8192 * slower(PROGRAM))
        for link in stuck:
            link.close()
        for process in held:
            end_hold(process)


    def test_a_scrape_waits_for_no_sample_of_a_large_store(self):
        link = self.server.connect()
        fill(self.server, link)
        held = self.server.hold("job")
        slowest = {"scrape": 0, "ping": 0}

        def timed(what, call):
            began = time.monotonic()
            answer = call()
            slowest[what] = max(slowest[what], time.monotonic() - began)
            return answer

        def scrape():
            timed("ping", lambda: link.ask("PING"))
            return openmetrics.read(timed(
                "scrape", lambda: self.server.get("/metrics"))[2].decode())

        first = scrape()
        self.assertNotIn(("holdfast_sample_age_seconds", ""), first)
        self.assertNotIn(("holdfast_locks_held", ""), first)
        self.assertEqual(first["holdfast_up", ""], 1)
        view = json.loads(self.server.get("/locks")[2])
        self.assertEqual((view["locks_held"], view["sample_age_ms"]),
                         (None, None))
        found = await_that(lambda: ("holdfast_locks_held", "") in
                           (samples := scrape()) and samples)
        self.assertEqual(found["holdfast_locks_held", ""], 1)
        self.assertGreaterEqual(found["holdfast_sample_age_seconds", ""], 0)
        self.assertGreaterEqual(found["holdfast_store_keys", ""], 300000)
        # Not read again at once, but it may take no longer to ask.
        for _ in range(3):
            time.sleep(1.1)
            self.assertEqual(scrape()["holdfast_locks_held", ""], 1)
        self.assertLess(slowest["scrape"], 1 * slower(PROGRAM))
        self.assertLess(slowest["ping"], 0.5 * slower(PROGRAM))
        self.assertEqual(end_hold(held), 0)
        link.close()

    def test_after_a_slow_sample_those_that_are_quick_are_waited_for(self):
        server = Http()
        try:
            link = server.connect()
            for _ in range(5):
                took = fill(server, link)
                server.get("/metrics")  # it does not wait for its sample
                link.ask("FLUSHALL")
                time.sleep(12 * took + 1)  # a pause, then nothing is under way
                held = server.hold("job")
                found = openmetrics.read(server.get("/metrics")[2].decode())
                self.assertEqual(end_hold(held), 0)
                if found["holdfast_sample_age_seconds", ""] < 0.5:
                    break
            self.assertEqual(found["holdfast_locks_held", ""], 1)
            self.assertLess(found["holdfast_sample_age_seconds", ""], 0.5)
            link.close()
        finally:
            self.assertEqual(server.close(), 0)


class Token(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.folder.name, "token")
        with open(cls.file, "w", encoding="ascii") as file:
            file.write(TOKEN + "\nthis is not read\n")
        cls.server = Http("--http-token-file", cls.file, "--allow-edit")

    @classmethod
    def tearDownClass(cls):
        assert cls.server.close() == 0
        cls.folder.cleanup()

    def test_all_but_the_page_needs_the_token(self):
        for path in ("/locks", "/metrics", "/events", "/nothing"):
            status, headers, _ = self.server.get(path)
            self.assertEqual(status, 401)
            self.assertIn("Bearer", headers["WWW-Authenticate"])
        for given in ("Bearer", "Bearer ", f"Bearer {TOKEN}x", TOKEN,
                      f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}",
                      f"Bearer {TOKEN[:-1]}x", "Bearer this is not read"):
            self.assertEqual(
                self.server.status("/locks", Authorization=given), 401, given)
        self.assertEqual(self.server.status("/locks", **BEARER), 200)
        self.assertEqual(self.server.status("/"), 200)

    def test_with_a_token_the_host_may_be_any(self):
        self.assertEqual(self.server.status("/metrics", Host="a.example",
                                            **BEARER), 200)

    def test_a_break_needs_the_token_and_may_name_the_owner(self):
        post = self.server.status
        held = self.server.hold(HOSTILE[1])
        path = "/break?name=" + urllib.parse.quote_from_bytes(HOSTILE[1])
        await_that(lambda: self.server.locks(**BEARER))
        owner = self.server.locks(**BEARER)[0]["owner"]
        self.assertEqual(post(path, "POST"), 401)
        self.assertEqual(post(path, "GET", **BEARER), 405)
        self.assertEqual(post("/break", "POST", **BEARER), 400)
        self.assertEqual(post(path + "&owner=x", "POST", **BEARER), 409)
        self.assertEqual(post(path + "&owner=" + owner, "POST", **BEARER), 200)
        self.assertEqual(post(path, "POST", **BEARER), 404)
        held.terminate()
        end_hold(held)

    def test_a_break_with_an_empty_owner_is_one_of_any(self):
        held = self.server.hold("anyone's")
        self.assertEqual(self.server.status("/break?name=anyone's&owner=",
                                            "POST", **BEARER), 200)
        held.terminate()
        end_hold(held)


class Options(unittest.TestCase):
    def fails(self, *options):
        done = subprocess.run(
            [PROGRAM, "--store", "volatile:" + os.path.join(
                self.folder.name, "store"), "serve", "--listen",
             "unix:" + os.path.join(self.folder.name, "socket"), *options],
            capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode in (64, 66), True, done.stderr)
        return done.stderr

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_what_is_not_safe_is_refused(self):
        short = os.path.join(self.folder.name, "short")
        with open(short, "w", encoding="ascii") as file:
            file.write("tooshort\n")
        self.assertIn("--http-token-file", self.fails("--http", "0.0.0.0:0"))
        self.assertIn("--http-token-file", self.fails("--http", "[::]:0"))
        self.assertIn("needs --http-token-file",
                      self.fails("--http", "0", "--allow-edit"))
        self.assertIn("--allow-break needs --http-token-file",
                      self.fails("--http", "0", "--allow-break"))
        self.assertIn("16 to", self.fails("--http", "0", "--http-token-file",
                                          short))
        self.assertIn("No such file", self.fails("--http", "0",
                                                 "--http-token-file", "none"))
        self.assertIn("--http is missing", self.fails("--allow-edit"))
        for address in ("", ":", "x", "1.2.3.4", "::1:80", "127.0.0.1:x"):
            self.assertIn("HOST:PORT", self.fails("--http", address))


if __name__ == "__main__":
    unittest.main()
