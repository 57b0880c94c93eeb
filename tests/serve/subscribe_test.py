# SPDX-License-Identifier: Apache-2.0
"""subscribe_test.py PROGRAM - subscriptions, and messages from clients, other
servers of the store and programs that have it open."""

import signal
import subprocess
import sys
import time
import unittest

from server import TIMEOUT, Server

PROGRAM = sys.argv.pop()
MIB = 1 << 20


class Subscriptions(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.__exit__)
        self.link = self.connect()

    def connect(self, server=None):
        link = (server or self.server).connect()
        self.addCleanup(link.close)
        return link

    def subscriber(self, *words, server=None, resp3=False):
        link = self.connect(server)
        if resp3:
            link.ask("HELLO", 3)
        link.send(*words)
        for _ in words[1:]:
            link.read()
        return link

    def command(self, *words):
        """What a program says that has the store open."""
        return subprocess.run(
            [PROGRAM, "--store", self.server.store, "command", "--no-raw", *words],
            check=True, capture_output=True, timeout=TIMEOUT).stdout

    def test_subscriptions_are_counted(self):
        ask, read = self.link.ask, self.link.read
        self.assertEqual(ask("UNSUBSCRIBE"), [b"unsubscribe", None, 0])
        self.link.send("SUBSCRIBE", "a", "b", "a")
        self.assertEqual([read(), read(), read()],
                         [[b"subscribe", b"a", 1], [b"subscribe", b"b", 2],
                          [b"subscribe", b"a", 2]])
        self.assertEqual(ask("PSUBSCRIBE", "x*"), [b"psubscribe", b"x*", 3])
        self.assertEqual(ask("SSUBSCRIBE", "a"), [b"ssubscribe", b"a", 1])
        self.assertEqual(ask("UNSUBSCRIBE", "c"), [b"unsubscribe", b"c", 3])
        self.link.send("UNSUBSCRIBE")
        self.assertEqual(sorted([read()[1], read()[1]]), [b"a", b"b"])
        self.assertEqual(ask("PUNSUBSCRIBE"), [b"punsubscribe", b"x*", 0])
        self.assertEqual(ask("SUNSUBSCRIBE"), [b"sunsubscribe", b"a", 0])
        self.assertEqual(ask("PING"), b"PONG")

    def test_subscriptions_end_in_their_order(self):
        for kind in ("", "P", "S"):
            self.link.send(kind + "SUBSCRIBE", "b", "c", "a")
            for _ in range(3):
                self.link.read()
        for kind in ("", "S", "P"):
            self.link.send(kind + "UNSUBSCRIBE")
            self.assertEqual([self.link.read()[1] for _ in range(3)],
                             [b"b", b"c", b"a"], kind)

    def test_client_reply_off_suppresses_no_messages(self):
        self.link.send("CLIENT", "REPLY", "OFF")
        self.link.send("GET", "none")
        self.assertEqual(self.link.ask("SUBSCRIBE", "a"),
                         [b"subscribe", b"a", 1])
        self.assertEqual(self.connect().ask("PUBLISH", "a", "text"), 1)
        self.assertEqual(self.link.read(), [b"message", b"a", b"text"])
        self.assertEqual(self.link.ask("UNSUBSCRIBE", "a"),
                         [b"unsubscribe", b"a", 0])

    def test_a_subscriber_can_do_little_else_by_resp2(self):
        ask = self.link.ask
        ask("SUBSCRIBE", "a")
        self.assertEqual(
            ask("GET", "a"),
            "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE "
            "/ PING / QUIT / RESET are allowed in this context")
        self.assertEqual(ask("PING"), [b"pong", b""])
        self.assertEqual(ask("PING", "x"), [b"pong", b"x"])
        ask("UNSUBSCRIBE", "a")
        self.assertEqual(ask("GET", "a"), None)

    def test_messages_have_their_channels(self):
        one = self.subscriber("SUBSCRIBE", "a", resp3=True)
        all_of = self.subscriber("PSUBSCRIBE", "*")
        shard = self.subscriber("SSUBSCRIBE", "a")
        self.assertEqual(self.link.ask("PUBLISH", "a", "x\0"), 2)
        self.assertEqual(self.link.ask("SPUBLISH", "a", "y"), 1)
        self.assertEqual(self.link.ask("PUBLISH", "b", "z"), 1)
        self.assertEqual(one.read(), [b"message", b"a", b"x\0"])
        self.assertEqual(all_of.read(), [b"pmessage", b"*", b"a", b"x\0"])
        self.assertEqual(all_of.read(), [b"pmessage", b"*", b"b", b"z"])
        self.assertEqual(shard.read(), [b"smessage", b"a", b"y"])
        self.assertEqual(one.ask("PUBLISH", "a", "own"), 2)
        self.assertEqual(one.read(), [b"message", b"a", b"own"])
        self.assertEqual(one.ask("GET", "a"), None)

    def test_a_pattern_has_a_limit(self):
        ask, error = self.link.ask, "ERR pattern is 8193 bytes; at most 8192"
        ask("HSET", "h", "f", 1)
        for words in (["KEYS"], ["SCAN", "0", "MATCH"], ["PSUBSCRIBE"],
                      ["HSCAN", "h", "0", "MATCH"], ["PUBSUB", "CHANNELS"],
                      ["COMMAND", "LIST", "FILTERBY", "PATTERN"]):
            self.assertEqual(ask(*words, "[" + "a" * 8192), error)
            self.assertIsInstance(ask(*words, "[" + "a" * 8191), list)
            ask("RESET")

    def test_pubsub_says_who_listens(self):
        self.subscriber("SUBSCRIBE", "a", "b")
        self.subscriber("PSUBSCRIBE", "x*", "y*")
        self.subscriber("SSUBSCRIBE", "s")
        self.subscriber("SUBSCRIBE", "a")
        ask = self.link.ask
        self.assertEqual(sorted(ask("PUBSUB", "CHANNELS")), [b"a", b"b"])
        self.assertEqual(ask("PUBSUB", "CHANNELS", "[a]"), [b"a"])
        self.assertEqual(ask("PUBSUB", "NUMSUB", "a", "none"),
                         [b"a", 2, b"none", 0])
        self.assertEqual(ask("PUBSUB", "NUMPAT"), 2)
        self.assertEqual(ask("PUBSUB", "SHARDCHANNELS"), [b"s"])
        self.assertEqual(ask("PUBSUB", "SHARDNUMSUB", "s"), [b"s", 1])

    def test_a_message_from_before_is_not_received(self):
        first = self.subscriber("SUBSCRIBE", "a")
        late = self.connect()
        self.link.send("PUBLISH", "a", "early")
        late.send("SUBSCRIBE", "a")
        late.read()
        self.link.read()
        self.assertEqual(self.link.ask("PUBLISH", "a", "then"), 2)
        self.assertEqual(first.read()[2], b"early")
        self.assertIn(late.read()[2], (b"early", b"then"))

    def test_other_processes_reach_subscribers(self):
        reader = self.subscriber("SUBSCRIBE", "a")
        self.assertEqual(self.command("PUBLISH", "a", "x"), b"(integer) 1\n")
        self.assertEqual(reader.read(), [b"message", b"a", b"x"])
        with Server(PROGRAM, store=self.server.store) as other:
            reader = self.subscriber("SUBSCRIBE", "a", server=other)
            self.assertEqual(self.link.ask("PUBLISH", "a", "y"), 2)
            self.assertEqual(reader.read(), [b"message", b"a", b"y"])
            other.process.send_signal(signal.SIGKILL)
            other.process.wait(TIMEOUT)
            other.process.stdout.close()
            self.assertEqual(self.link.ask("PUBLISH", "a", "z"), 1)

    def test_a_script_publishes_when_it_is_done(self):
        reader = self.subscriber("SUBSCRIBE", "a")
        self.assertEqual(self.link.ask(
            "EVAL", "for i = 1, 3 do redis.call('publish', 'a', i) end "
                    "return redis.call('publish', 'b', 1)", 0), 0)
        self.assertEqual([reader.read()[2] for _ in range(3)],
                         [b"1", b"2", b"3"])

    def test_a_subscriber_that_has_gone_does_not_count(self):
        reader = self.subscriber("SUBSCRIBE", "a", "b")
        reader.close()
        until = time.monotonic() + TIMEOUT
        while self.link.ask("PUBLISH", "a", "x") != 0:
            self.assertLess(time.monotonic(), until)
        self.assertEqual(self.link.ask("PUBSUB", "CHANNELS"), [])

    def test_a_subscriber_that_does_not_read_is_closed(self):
        reader = self.subscriber("SUBSCRIBE", "a")
        data = "x" * (MIB - 1)
        sent = 0
        while self.link.ask("PUBLISH", "a", data) == 1:
            sent += 1
            self.assertLess(sent, 64)
        self.assertGreater(sent, 30)
        with self.assertRaises(EOFError):
            while True:
                reader.read()

    def test_subscribers_leave_while_the_store_is_locked(self):
        readers = [self.subscriber("SUBSCRIBE", "a") for _ in range(20)]
        locker = Server(
            PROGRAM, store=self.server.store + "?script_budget_ms=60000")
        self.addCleanup(locker.__exit__)
        self.connect(locker).send(
            "EVAL", "redis.call('incr', 'n') while true do end", 0)
        time.sleep(0.2)
        locker.process.send_signal(signal.SIGSTOP)
        self.link.ask("PING")
        for reader in readers:
            reader.close()
        begin = time.monotonic()
        for _ in range(3):
            self.link.ask("PING")
            time.sleep(0.01)
        self.assertLess(time.monotonic() - begin, 20)
        locker.process.kill()
        locker.close()
        until = time.monotonic() + TIMEOUT
        while self.link.ask("PUBSUB", "NUMSUB", "a") != [b"a", 0]:
            self.assertLess(time.monotonic(), until)

    def test_many_channels_and_clients(self):
        names = [f"c{i}" for i in range(1000)]
        readers = [self.subscriber("SUBSCRIBE", *names) for _ in range(5)]
        self.link.send("PUBLISH", "c7", "x")
        self.assertEqual(self.link.read(), 5)
        for reader in readers:
            self.assertEqual(reader.read(), [b"message", b"c7", b"x"])
            reader.send("UNSUBSCRIBE", *names[:999])
            for _ in range(999):
                last = reader.read()
            self.assertEqual(last[2], 1)
        self.assertEqual(self.link.ask("PUBSUB", "CHANNELS"), [b"c999"])


if __name__ == "__main__":
    unittest.main()
