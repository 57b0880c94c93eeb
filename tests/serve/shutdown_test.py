# SPDX-License-Identifier: Apache-2.0
"""shutdown_test.py PROGRAM - SHUTDOWN: ends the server as SIGTERM does."""

import sys
import time
import unittest

from server import TIMEOUT, Server, until_busy

PROGRAM = sys.argv.pop()


class Shutdown(unittest.TestCase):
    def serve(self, **options):
        server = Server(PROGRAM, **options)
        self.addCleanup(server.close)
        return server

    def link(self, server):
        link = server.connect()
        self.addCleanup(link.close)
        return link

    def expect_end(self, server, link, *words):
        """No reply, and the exit code of SIGTERM."""
        link.send("SHUTDOWN", *words)
        self.assertRaises((EOFError, OSError), link.read)
        self.assertEqual(server.process.wait(TIMEOUT), 0)

    def test_ends_the_server(self):
        for words in ((), ("NOSAVE",), ("save", "now", "force")):
            server = self.serve(scheme="file")
            link = self.link(server)
            link.send("SET", "a", 1)
            link.send("SHUTDOWN", *words)
            self.assertEqual(link.read(), b"OK")
            self.assertRaises((EOFError, OSError), link.read)
            self.assertEqual(server.process.wait(TIMEOUT), 0)
            again = self.serve(store=server.store)
            self.assertEqual(self.link(again).ask("GET", "a"), b"1")

    def test_sent_twice_is_one(self):
        server = self.serve()
        links = [self.link(server) for _ in range(20)]
        for link in links:
            link.send("SHUTDOWN")
        self.assertEqual(server.process.wait(TIMEOUT), 0)

    def test_refused(self):
        server = self.serve()
        link = self.link(server)
        for words in (("X",), ("SAVE", "NOSAVE"), ("ABORT", "NOW")):
            self.assertEqual(link.ask("SHUTDOWN", *words), "ERR syntax error")
        self.assertEqual(link.ask("SHUTDOWN", "ABORT"),
                         "ERR No shutdown in progress.")
        self.assertIn("not durable", link.ask("SHUTDOWN", "SAVE"))
        self.assertIn("not allowed from script",
                      link.ask("EVAL", "redis.call('SHUTDOWN')", 0))
        link.ask("MULTI")
        self.assertIn("not allowed inside a transaction",
                      link.ask("SHUTDOWN"))
        self.assertIn("EXECABORT", link.ask("EXEC"))
        link.ask("ACL", "SETUSER", "weak", "on", ">w", "+@all", "-shutdown",
                 "~*")
        link.ask("AUTH", "weak", "w")
        self.assertIn("NOPERM", link.ask("SHUTDOWN"))
        self.assertEqual(link.ask("PING"), b"PONG")

    def be_busy(self):
        """A server whose script has written, and another connection."""
        server = self.serve(scheme="file", url="?script_budget_ms=60000")
        runs, asks = self.link(server), self.link(server)
        asks.ask("CONFIG", "SET", "busy-reply-threshold", 20)
        runs.send("EVAL", "redis.call('SET', 'a', 1) while true do end", 0)
        until_busy(server)
        return server, asks

    def expect_undone(self, server):
        again = self.serve(store=server.store)
        self.assertIsNone(self.link(again).ask("GET", "a"))

    def test_busy(self):
        """NOSAVE also undoes a script that has written."""
        server, asks = self.be_busy()
        self.assertIn("BUSY", asks.ask("SHUTDOWN"))
        self.assertIn("UNKILLABLE", asks.ask("SCRIPT", "KILL"))
        other = self.link(server)
        self.assertEqual(other.ask("MULTI"), b"OK")
        self.assertIn("not allowed inside a transaction",
                      other.ask("SHUTDOWN", "NOSAVE"))
        began = time.monotonic()
        self.expect_end(server, asks, "NOSAVE")
        self.assertLess(time.monotonic() - began, 30)
        self.expect_undone(server)

    def test_after_a_signal(self):
        """The server waits for the script, and is not ended by force."""
        server, asks = self.be_busy()
        server.process.terminate()
        time.sleep(0.5)
        self.expect_end(server, asks, "NOSAVE")
        self.expect_undone(server)


if __name__ == "__main__":
    unittest.main()
