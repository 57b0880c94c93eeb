# SPDX-License-Identifier: Apache-2.0
"""databases_test.py PROGRAM - SELECT, and what a database is to others."""

import subprocess
import sys
import time
import unittest

from server import TIMEOUT, Server, encode

PROGRAM = sys.argv.pop()


class Databases(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.close)
        self.link = self.connect()

    def connect(self, database=0):
        link = self.server.connect()
        self.addCleanup(link.close)
        if database:
            self.assertEqual(link.ask("SELECT", database), b"OK")
        return link

    def keyspace(self):
        return [line.split(b",")[0] for line in
                self.link.ask("INFO", "keyspace").split(b"\r\n")[1:-1]]

    def expect_keyspace(self, *want):
        """On a busy machine counting seems long, and is not done each time."""
        until = time.monotonic() + TIMEOUT
        while self.keyspace() != list(want) and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(self.keyspace(), list(want))

    def write_elsewhere(self, database, *words):
        subprocess.run([PROGRAM, "--store",
                        f"{self.server.store}?db={database}", "command",
                        *words], check=True, stdout=subprocess.DEVNULL)

    def test_a_connection_has_one_until_it_selects_another(self):
        five = self.connect(5)
        five.ask("MSET", "a", "five", "b", 1)
        self.link.ask("SET", "a", "zero")
        self.assertEqual(five.ask("GET", "a"), b"five")
        self.assertEqual([five.ask("DBSIZE"), self.link.ask("DBSIZE")], [2, 1])
        self.assertEqual(sorted(five.ask("KEYS", "*")), [b"a", b"b"])
        self.assertEqual(five.ask("SCAN", 0)[0], b"0")
        self.expect_keyspace(b"db0:keys=1", b"db5:keys=2")
        self.assertIn(b" db=5 ", five.ask("CLIENT", "INFO"))
        self.assertEqual(five.ask("RESET"), b"RESET")
        self.assertEqual(five.ask("GET", "a"), b"zero")

    def test_in_a_pipeline(self):
        self.link.socket.sendall(b"".join(encode(*words) for words in (
            ("SET", "a", 0), ("SELECT", 1), ("SET", "a", 1), ("SELECT", 0),
            ("GET", "a"), ("SELECT", 1), ("GET", "a"))))
        self.assertEqual([self.link.read() for _ in range(7)],
                         [b"OK"] * 4 + [b"0", b"OK", b"1"])

    def test_a_refused_select_changes_nothing(self):
        one = self.connect(1)
        self.assertEqual(one.ask("SELECT", 16), "ERR DB index is out of range")
        self.assertEqual(one.ask("SELECT", 2**31),
                         "ERR value is out of range, value must between "
                         "-2147483648 and 2147483647")
        one.ask("SET", "a", 1)
        self.expect_keyspace(b"db1:keys=1")

    def test_in_a_transaction(self):
        for words in (("MULTI",), ("SET", "a", 0), ("SELECT", 7),
                      ("SET", "a", 7), ("SELECT", 99)):
            self.link.ask(*words)
        self.assertEqual(self.link.ask("EXEC")[:3], [b"OK"] * 3)
        self.assertEqual(self.connect(7).ask("GET", "a"), b"7")

    def test_a_script_selects_for_itself(self):
        self.link.ask("EVAL", "redis.call('SELECT', 4) "
                      "redis.call('SET', 'a', 'four')", 0)
        self.assertIsNone(self.link.ask("GET", "a"))
        self.assertEqual(self.connect(4).ask("GET", "a"), b"four")

    def test_a_waiter_gets_an_element_of_its_database(self):
        waiter, other = self.connect(2), self.connect()
        for link in (waiter, other):
            link.send("BLPOP", "q", 0)
        while self.link.ask("INFO", "clients").count(b"blocked_clients:2") == 0:
            time.sleep(0.002)
        self.connect(2).ask("RPUSH", "q", "two")
        self.assertEqual(waiter.read(), [b"q", b"two"])
        waiter.send("BLPOP", "q", 0)
        self.write_elsewhere(0, "RPUSH", "q", "zero")
        self.assertEqual(other.read(), [b"q", b"zero"])
        self.write_elsewhere(2, "RPUSH", "q", "again")
        self.assertEqual(waiter.read(), [b"q", b"again"])

    def test_swapdb_serves_waiters(self):
        waiter = self.connect(3)
        waiter.send("BLPOP", "q", 0)
        while self.link.ask("INFO", "clients").count(b"blocked_clients:1") == 0:
            time.sleep(0.002)
        self.link.ask("RPUSH", "q", "zero")
        self.assertEqual(self.link.ask("SWAPDB", 0, 3), b"OK")
        self.assertEqual(waiter.read(), [b"q", b"zero"])

    def test_watch_is_of_the_selected_database(self):
        one = self.connect(1)
        one.ask("WATCH", "a")
        one.ask("SELECT", 0)
        self.connect(1).ask("SET", "a", "changed")
        one.ask("MULTI")
        one.ask("PING")
        self.assertIsNone(one.ask("EXEC"))

    def test_events_name_the_database(self):
        self.link.ask("CONFIG", "SET", "notify-keyspace-events", "KEA")
        listener = self.connect()
        listener.ask("PSUBSCRIBE", "__key*__:*")
        nine = self.connect(9)
        nine.ask("SET", "a", 1)
        nine.ask("MOVE", "a", 10)
        self.assertEqual(
            [listener.read()[2:] for _ in range(6)],
            [[b"__keyspace@9__:a", b"set"], [b"__keyevent@9__:set", b"a"],
             [b"__keyspace@10__:a", b"move_to"],
             [b"__keyevent@10__:move_to", b"a"],
             [b"__keyspace@9__:a", b"move_from"],
             [b"__keyevent@9__:move_from", b"a"]])

    def test_flushdb_leaves_the_others(self):
        self.connect(1).ask("SET", "a", 1)
        two = self.connect(2)
        two.ask("SET", "a", 2)
        two.ask("HSET", "h", *(word for i in range(200) for word in (i, i)))
        two.ask("FLUSHDB")
        self.expect_keyspace(b"db1:keys=1")
        self.link.ask("FLUSHALL")
        self.expect_keyspace()

    def test_expired_keys_of_all_are_deleted(self):
        for database in (1, 15):
            self.connect(database).ask("SET", "a", 1, "PX", 1)
        while self.keyspace():
            time.sleep(0.002)


if __name__ == "__main__":
    unittest.main()
