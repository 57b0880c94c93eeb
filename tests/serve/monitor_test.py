# SPDX-License-Identifier: Apache-2.0
"""monitor_test.py PROGRAM - MONITOR."""

import os
import re
import sys
import unittest

from server import Server, encode

PROGRAM = sys.argv.pop()


class Monitor(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.__exit__)
        self.link = self.connect()
        self.monitor = self.connect()
        self.assertEqual(self.monitor.ask("MONITOR"), b"OK")

    def connect(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link

    def shown(self, source=None):
        """The words of the next line."""
        line = self.monitor.read().decode()
        source = source or f"0 unix:{self.server.path}"
        match = re.fullmatch(r"(\d+\.\d{6}) \[(.*?)\] (.*)", line)
        self.assertIsNotNone(match, line)
        self.assertEqual(match[2], source)
        return match[3]

    def test_each_command_is_shown(self):
        self.link.ask("SET", "a", b'b"\\\n\x00\xff')
        self.assertEqual(self.shown(), r'"SET" "a" "b\"\\\n\x00\xff"')
        self.link.ask("SELECT", 3)
        self.link.ask("get", "a")
        self.assertEqual(self.shown(), '"SELECT" "3"')
        self.assertEqual(self.shown(f"3 unix:{self.server.path}"),
                         '"get" "a"')

    def test_what_scripts_call_is_shown_after_them(self):
        self.link.ask("EVAL", "return redis.call('set', KEYS[1], 'x')", 1, "a")
        self.assertIn('"EVAL"', self.shown())
        self.assertEqual(self.shown("0 lua"), '"set" "a" "x"')

    def test_a_transaction_is_shown_when_it_runs(self):
        for words in (["MULTI"], ["SET", "a", 1], ["GET", "a"], ["EXEC"]):
            self.link.ask(*words)
        self.assertEqual([self.shown() for _ in range(4)],
                         ['"MULTI"', '"SET" "a" "1"', '"GET" "a"', '"EXEC"'])

    def test_a_command_that_waits_is_shown_once(self):
        other = self.connect()
        other.send("BLPOP", "a", 0)
        self.assertEqual(self.shown(), '"BLPOP" "a" "0"')
        self.link.ask("RPUSH", "a", "x")
        self.assertEqual(other.read(), [b"a", b"x"])
        self.link.ask("PING")
        self.assertEqual([self.shown() for _ in range(2)],
                         ['"RPUSH" "a" "x"', '"PING"'])

    def test_passwords_and_administration_are_not_shown(self):
        for words in ([3, "SETNAME", "auth", "AUTH", "default", "secret"],
                      [3, "AUTH", "x", "y", "AUTH", "default", "secret"],
                      ["AUTH", "default", "secret"]):
            self.link.ask("HELLO", *words)
            self.assertNotIn("secret", self.shown())
        self.link.ask("AUTH", "secret")
        self.link.ask("AUTH", "default", "secret")
        self.link.ask("HELLO", 3, "AUTH", "default", "secret", "SETNAME", "n")
        self.link.ask("CONFIG", "GET", "port")
        self.link.ask("ACL", "WHOAMI")
        self.link.ask("NO", "COMMAND")
        self.link.ask("CLIENT", "ID")
        self.assertEqual(self.shown(), '"AUTH" "(redacted)"')
        self.assertEqual(self.shown(), '"AUTH" "(redacted)" "(redacted)"')
        self.assertEqual(self.shown(), '"HELLO" "3" "AUTH" "(redacted)" '
                                       '"(redacted)" "(redacted)" '
                                       '"(redacted)"')
        rest = []
        while not rest or "CLIENT" not in rest[-1]:
            rest.append(self.shown())
        self.assertNotIn("CONFIG", "".join(rest))

    def test_reset_ends_it(self):
        self.assertIn("flags=O", self.link.ask("CLIENT", "LIST").decode())
        self.monitor.send("RESET")
        while self.monitor.read() != b"RESET":
            pass
        self.link.ask("SET", "a", 1)
        self.assertEqual(self.monitor.ask("PING"), b"PONG")

    def test_a_monitor_that_does_not_read_is_closed(self):
        self.link.ask("CLIENT", "SETNAME", "me")
        words = [b"x" * (1 << 16)] * 16
        for _ in range(60):
            self.link.ask("MSET", *words)
        clients = self.link.ask("CLIENT", "LIST")
        self.assertNotIn(b"flags=O", clients)
        self.assertEqual(self.link.ask("STRLEN", words[0]), 1 << 16)

    def test_of_a_long_word_the_rest_is_not_shown(self):
        self.link.ask("SET", "a", b"\xff" * 9000000)
        shown = r"\xff" * 65536
        self.assertEqual(self.shown(), f'"SET" "a" "{shown}'
                                       f'... ({9000000 - 65536} more bytes)"')
        self.link.ask("ECHO", b"x" * 65536)
        self.assertEqual(self.shown(), f'"ECHO" "{"x" * 65536}"')

    def test_what_runs_before_an_undone_round_is_shown(self):
        with Server(PROGRAM, url="?script_budget_ms=50") as server:
            link, monitor = server.connect(), server.connect()
            self.addCleanup(link.close)
            self.addCleanup(monitor.close)
            monitor.ask("MONITOR")
            link.socket.sendall(encode("PING", "me") +
                                encode("EVAL", "while true do end", 0))
            self.assertEqual(link.read(), b"me")
            self.assertIn("script", link.read())
            self.assertIn(b"PING", monitor.read())

    def test_it_needs_the_right(self):
        path = os.path.join(self.server.folder, "users")
        with open(path, "w", encoding="utf-8") as file:
            file.write("user default on nopass ~* &* +@all -@admin\n")
        os.chmod(path, 0o600)
        with Server(PROGRAM, "--users", path) as server:
            link = server.connect()
            self.addCleanup(link.close)
            self.assertIn("NOPERM", link.ask("MONITOR"))

    def test_the_order_of_a_pipeline_is_kept(self):
        self.link.socket.sendall(b"".join(encode("SET", "a", i)
                                          for i in range(1000)))
        for i in range(1000):
            self.link.read()
            self.assertEqual(self.shown(), f'"SET" "a" "{i}"')


if __name__ == "__main__":
    unittest.main()
