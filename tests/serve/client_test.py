# SPDX-License-Identifier: Apache-2.0
"""client_test.py PROGRAM - CLIENT: what a connection says about itself."""

import sys
import time
import unittest

from server import Server, encode

PROGRAM = sys.argv.pop()


class Client(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.close)
        self.link = self.connect()

    def connect(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link

    def fields(self, link):
        text = link.ask("CLIENT", "INFO").decode()
        return dict(field.split("=", 1) for field in text.split())

    def test_names_are_listed(self):
        ask = self.link.ask
        self.assertEqual(ask("CLIENT", "SETNAME", "one"), b"OK")
        self.assertEqual(ask("CLIENT", "SETINFO", "LIB-NAME", "lib"), b"OK")
        self.assertEqual(ask("CLIENT", "GETNAME"), b"one")
        self.assertIn("special characters", ask("CLIENT", "SETNAME", "a b"))
        other = self.connect()
        other.ask("HELLO", 2, "SETNAME", "two")
        lines = ask("CLIENT", "LIST").decode().splitlines()
        self.assertEqual([line.split()[4] for line in lines],
                         ["name=one", "name=two"])
        fields = self.fields(other)
        self.assertEqual(fields["id"],
                         str(other.ask("CLIENT", "ID")))
        self.assertEqual(fields["resp"], "2")
        self.assertEqual(fields["cmd"], "client|info")
        self.assertEqual(fields["addr"], self.server.path + ":0")
        self.assertEqual(self.fields(self.link)["lib-name"], "lib")

    def test_killed_connections_end(self):
        other = self.connect()
        number = other.ask("CLIENT", "ID")
        self.assertEqual(self.link.ask("CLIENT", "KILL", "ID", number), 1)
        with self.assertRaises(EOFError):
            other.read()
        self.assertEqual(self.link.ask("CLIENT", "KILL", "ID", number), 0)
        mine = self.link.ask("CLIENT", "ID")
        self.assertEqual(self.link.ask("CLIENT", "KILL", "ID", mine), 0)
        self.assertEqual(
            self.link.ask("CLIENT", "KILL", "ID", mine, "SKIPME", "no"), 1)
        with self.assertRaises(EOFError):
            self.link.read()

    def test_a_killed_connection_keeps_what_was_acknowledged(self):
        other = self.connect()
        number = other.ask("CLIENT", "ID")
        for _ in range(200):
            other.send("INCR", "n")
        self.assertEqual(self.link.ask("CLIENT", "KILL", "ID", number), 1)
        last = 0
        try:
            while True:
                last = other.read()
        except (EOFError, ConnectionError):
            pass
        self.assertGreaterEqual(int(self.link.ask("GET", "n") or 0), last)

    def test_replies_are_skipped(self):
        self.link.socket.sendall(
            encode("CLIENT", "REPLY", "SKIP") + encode("INCR", "n") +
            encode("INCR", "n") + encode("CLIENT", "REPLY", "SKIP") +
            encode("CLIENT", "ID") + encode("INCR", "n") +
            encode("CLIENT", "REPLY", "OFF") + encode("INCR", "n") * 50 +
            encode("NOSUCH") + encode("CLIENT", "REPLY", "SKIP") +
            encode("CLIENT", "REPLY", "ON") + encode("INCR", "n"))
        self.assertEqual([self.link.read() for _ in range(4)],
                         [2, 3, b"OK", 54])

    def test_replies_to_exec_are_skipped(self):
        for line in ("CLIENT REPLY OFF", "MULTI", "INCR n", "EXEC"):
            self.link.send(*line.split())
        self.assertEqual(self.link.ask("CLIENT", "REPLY", "ON"), b"OK")
        self.assertEqual(self.link.ask("GET", "n"), b"1")

    def test_a_pause_holds_writes_back(self):
        other = self.connect()
        self.link.ask("SET", "a", 1)
        self.assertEqual(self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE"),
                         b"OK")
        other.socket.sendall(encode("GET", "a") + encode("INCR", "a") +
                             encode("GET", "a"))
        self.assertEqual(other.read(), b"1")
        self.assertEqual(self.link.ask("GET", "a"), b"1")
        self.assertIn("flags=bU", self.link.ask("CLIENT", "LIST").decode())
        self.assertEqual(self.link.ask("CLIENT", "UNPAUSE"), b"OK")
        self.assertEqual([other.read(), other.read()], [2, b"2"])

    def test_a_pause_of_all_ends_by_itself(self):
        other = self.connect()
        other.ask("PING")
        begin = time.monotonic()
        self.assertEqual(self.link.ask("CLIENT", "PAUSE", 100), b"OK")
        other.socket.sendall(encode("PING") + encode("SET", "a", 2))
        self.assertEqual([other.read(), other.read()], [b"PONG", b"OK"])
        self.assertGreaterEqual(time.monotonic() - begin, 0.1)
        self.assertEqual(self.link.ask("GET", "a"), b"2")

    def test_a_pause_holds_exec_and_scripts_back(self):
        other = self.connect()
        for line in ("MULTI", "INCR n"):
            other.ask(*line.split())
        third = self.connect()
        self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
        other.send("EXEC")
        third.send("EVAL", "return redis.call('incr', 'n')", 0)
        self.assertEqual(self.link.ask("GET", "n"), None)
        self.link.ask("CLIENT", "UNPAUSE")
        self.assertEqual(sorted([other.read()[0], third.read()]), [1, 2])


if __name__ == "__main__":
    unittest.main()
