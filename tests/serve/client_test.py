# SPDX-License-Identifier: Apache-2.0
"""client_test.py PROGRAM - CLIENT: what a connection says about itself."""

import sys
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


if __name__ == "__main__":
    unittest.main()
