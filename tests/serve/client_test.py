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

    def info(self, name):
        text = self.link.ask("INFO").decode()
        return int(text.split(f"\r\n{name}:")[1].split("\r\n")[0])

    def until(self, name, value):
        end = time.monotonic() + 60
        while self.info(name) != value:
            self.assertLess(time.monotonic(), end, self.info(name))

    def test_messages_and_cached_counts_are_held_back_and_counted(self):
        self.link.ask("PFADD", "h", "a")
        self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
        held = [self.connect() for _ in range(3)]
        held[0].send("PUBLISH", "c", "m")
        held[1].send("PFCOUNT", "h")
        held[2].send("MULTI")
        held[2].read()
        held[2].send("SET", "a", 1)
        self.until("blocked_clients", 3)
        self.link.ask("CLIENT", "UNPAUSE")
        self.assertEqual([link.read() for link in held], [0, 1, b"QUEUED"])
        self.assertEqual(self.info("blocked_clients"), 0)

    def test_what_only_reads_or_is_wrong_is_not_held_back(self):
        other = self.connect()
        self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
        script = "#!lua flags=no-writes\nreturn redis.call('get', 'a')"
        self.assertIsNone(other.ask("EVAL", script, 0))
        self.assertEqual(other.ask("EVAL_RO", "return 7", 0), 7)
        self.assertEqual(len(other.ask("SCRIPT", "LOAD", "return 8")), 40)
        for words in (["MULTI"], ["GET", "a"], ["EVAL", script, 0]):
            other.ask(*words)
        self.assertEqual(other.ask("EXEC"), [None, None])
        self.assertIn("wrong number", other.ask("SET", "a"))
        self.assertEqual(self.info("blocked_clients"), 0)

    def test_of_two_pauses_the_longer_counts(self):
        other = self.connect()
        self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
        self.link.ask("CLIENT", "PAUSE", 1, "WRITE")
        other.send("SET", "a", 1)
        self.until("blocked_clients", 1)
        time.sleep(0.05)
        self.assertEqual(self.info("blocked_clients"), 1)
        self.link.ask("CLIENT", "UNPAUSE")
        self.assertEqual(other.read(), b"OK")

    def test_requests_of_clients_that_have_gone_do_not_run(self):
        """Whether it goes before or after its request is held back."""
        self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
        for after in (True, False):
            other = self.connect()
            other.send("PING")
            other.read()
            other.socket.sendall(encode("GET", "a") + encode("INCR", "a"))
            if after:
                other.read()
                self.until("blocked_clients", 1)
            other.close()
            self.until("connected_clients", 1)
        self.assertEqual(self.info("blocked_clients"), 0)
        self.link.ask("CLIENT", "UNPAUSE")
        self.assertIsNone(self.link.ask("GET", "a"))

    def test_what_waits_takes_nothing_in_a_pause(self):
        other = self.connect()
        other.send("BLPOP", "q", 0)
        self.until("blocked_clients", 1)
        self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
        with Server(PROGRAM, store=self.server.store) as server:
            link = server.connect()
            link.ask("RPUSH", "q", "x")
            link.close()
        time.sleep(0.1)
        self.assertEqual(self.link.ask("LLEN", "q"), 1)
        self.link.ask("CLIENT", "UNPAUSE")
        self.assertEqual(other.read(), [b"q", b"x"])
        self.assertEqual(self.link.ask("LLEN", "q"), 0)

    def test_no_key_is_removed_in_a_pause(self):
        self.link.ask("CONFIG", "SET", "notify-keyspace-events", "Ex")
        other = self.connect()
        other.ask("SUBSCRIBE", "__keyevent@0__:expired")
        self.link.ask("SET", "a", 1, "PX", 20)
        self.link.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
        time.sleep(0.3)
        self.assertIsNone(self.link.ask("GET", "a"))
        self.assertEqual(self.info("expired_keys"), 0)
        self.link.ask("CLIENT", "UNPAUSE")
        self.assertEqual(other.read()[2], b"a")
        self.assertEqual(self.info("expired_keys"), 1)


if __name__ == "__main__":
    unittest.main()
