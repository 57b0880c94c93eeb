# SPDX-License-Identifier: Apache-2.0
"""guesses_test.py PROGRAM - wrong passwords, and who waits for it."""

import os
import select
import socket
import sys
import tempfile
import time
import unittest

from server import Connection, Server, TIMEOUT

PROGRAM = sys.argv.pop()
WRONG = "WRONGPASS invalid username-password pair or user is disabled."
FREE = 10  # wrong passwords of an address
STEP_S = 0.5  # until it may send one more


class Tcp(Connection):
    """From an address of this machine."""

    def __init__(self, port, source):
        self.socket = socket.create_connection(
            ("127.0.0.1", port), TIMEOUT, source_address=(source, 0))
        self.lines = self.socket.makefile("rb")


class Guesses(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-guesses-")
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "password")
        with open(path, "w", encoding="ascii") as file:
            file.write("secret\n")
        self.server = Server(PROGRAM, "--listen", "127.0.0.1:0",
                             "--password-file", path, log=True)
        self.addCleanup(self.server.close)
        address = self.server.process.stdout.readline()
        self.port = int(address.rsplit(":", 1)[1])

    def connect(self, source="127.0.0.1"):
        link = Tcp(self.port, source)
        self.addCleanup(link.close)
        return link

    def guess(self, count):
        """Connections that have sent a wrong password."""
        links = [self.connect() for _ in range(count)]
        for number, link in enumerate(links):
            if number % 2:
                link.send("AUTH", "wrong")
            else:
                link.send("HELLO", 3, "AUTH", "default", "wrong")
        return links

    def assertWaits(self, links):
        ready, _, _ = select.select(links, [], [], 0)
        self.assertLess(len(ready), len(links))

    def test_a_connection_has_few(self):
        link = self.connect()
        for _ in range(FREE):
            self.assertEqual(link.ask("AUTH", "wrong"), WRONG)
        self.assertRaises((EOFError, ConnectionError), link.ask, "PING")

    def test_an_address_has_few_on_all_its_connections(self):
        began = time.monotonic()
        for link in self.guess(FREE + 4):
            self.assertEqual(link.read(), WRONG)
        self.assertGreater(time.monotonic() - began, 4 * STEP_S - 0.01)
        self.assertEqual(self.connect().ask("AUTH", "secret"), b"OK")

    def test_others_do_not_wait(self):
        served = self.connect()
        self.assertEqual(served.ask("AUTH", "secret"), b"OK")
        waiting = [link.socket for link in self.guess(100)]
        other = self.connect("127.0.0.2")
        self.assertEqual(other.ask("AUTH", "secret"), b"OK")
        local = self.server.connect()
        self.assertEqual(local.ask("AUTH", "secret"), b"OK")
        local.close()
        self.assertEqual(served.ask("SET", "a", 1), b"OK")
        self.assertTrue(self.connect().ask("HELLO", 3).startswith("NOAUTH"))
        self.assertWaits(waiting)

    def test_who_leaves_gives_up_its_turn(self):
        began = time.monotonic()
        for link in self.guess(200):
            link.close()
        self.assertEqual(self.connect().ask("AUTH", "secret"), b"OK")
        self.assertLess(time.monotonic() - began, 190 * STEP_S / 2)

    def test_who_is_right_is_served_in_its_turn(self):
        wrong = self.guess(FREE + 2)
        link = self.connect()
        link.send("AUTH", "secret")
        link.send("SET", "a", 1)
        link.send("AUTH", "wrong")
        last = self.guess(1)[0]
        for other in wrong:
            self.assertEqual(other.read(), WRONG)
        self.assertEqual([link.read(), link.read()], [b"OK", b"OK"])
        self.assertEqual([link.read(), last.read()], [WRONG, WRONG])

    def test_a_user_at_the_socket_waits_too(self):
        links = [self.server.connect() for _ in range(100)]
        for link in links:
            self.addCleanup(link.close)
            link.send("AUTH", "wrong")
        self.assertEqual(self.connect().ask("AUTH", "secret"), b"OK")
        self.assertWaits([link.socket for link in links])


if __name__ == "__main__":
    unittest.main()
