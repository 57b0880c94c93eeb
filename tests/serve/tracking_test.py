# SPDX-License-Identifier: Apache-2.0
"""tracking_test.py PROGRAM - CLIENT TRACKING."""

import random
import subprocess
import sys
import time
import unittest

from server import TIMEOUT, Server, encode

PROGRAM = sys.argv.pop()


class Tracking(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.__exit__)
        self.link = self.connect()
        self.tracker = self.connect()
        self.tracker.ask("HELLO", 3)

    def connect(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link

    def track(self, *words):
        self.assertEqual(self.tracker.ask("CLIENT", "TRACKING", "ON", *words),
                         b"OK")

    def told(self, *keys, link=None):
        """One message, and no other."""
        link = link or self.tracker
        if keys:
            self.assertEqual(link.read(), [b"invalidate", list(keys)])
        self.assertEqual(link.ask("PING"), b"PONG")

    def info(self, name):
        text = self.link.ask("INFO").decode()
        return int(text.split(f"\r\n{name}:")[1].split("\r\n")[0])

    def other(self):
        other = Server(PROGRAM, store=self.server.store)
        self.addCleanup(other.__exit__)
        link = other.connect()
        self.addCleanup(link.close)
        return other, link

    def test_keys_with_a_prefix_are_reported(self):
        self.track("BCAST", "PREFIX", "a", "PREFIX", "b")
        for words in (("SET", "c", 1), ("SET", "a1", 1), ("DEL", "a1"),
                      ("HSET", "b", "f", 1)):
            self.link.ask(*words)
        for key in (b"a1", b"a1", b"b"):
            self.assertEqual(self.tracker.read(), [b"invalidate", [key]])
        self.link.ask("FLUSHALL")
        self.assertEqual(self.tracker.read(), [b"invalidate", None])

    def test_what_other_programs_write_is_reported(self):
        self.track("BCAST")
        subprocess.run([PROGRAM, "--store", self.server.store, "command",
                        "SET", "a", "1"], check=True, capture_output=True,
                       timeout=TIMEOUT)
        self.assertEqual(self.tracker.read(), [b"invalidate", [b"a"]])

    def test_a_key_that_was_read_is_reported_by_default(self):
        self.link.ask("SET", "a", 1)
        self.track()
        self.assertEqual(self.tracker.ask("GET", "a"), b"1")
        self.link.ask("SET", "a", 2)
        self.assertEqual(self.tracker.read(), [b"invalidate", [b"a"]])

    def test_what_is_read_at_once_is_reported(self):
        other = Server(PROGRAM, store=self.server.store)
        self.addCleanup(other.close)
        link = other.connect()
        self.addCleanup(link.close)
        for i in range(20):
            self.tracker.socket.sendall(encode("CLIENT", "TRACKING", "ON") +
                                        encode("GET", "a"))
            self.tracker.read()
            self.tracker.read()
            link.ask("SET", "a", i)
            self.assertEqual(self.tracker.read(), [b"invalidate", [b"a"]])
            self.tracker.ask("CLIENT", "TRACKING", "OFF")

    def test_the_end_of_tracking(self):
        self.track("BCAST")
        self.link.ask("SET", "a", 1)
        self.assertEqual(self.tracker.read(), [b"invalidate", [b"a"]])
        self.assertEqual(self.tracker.ask("CLIENT", "TRACKING", "OFF"), b"OK")
        self.link.ask("SET", "a", 2)
        self.assertEqual(self.tracker.ask("GET", "a"), b"2")

    def test_notices_go_to_another_connection(self):
        link = self.connect()
        target = self.connect()
        number = target.ask("CLIENT", "ID")
        target.ask("SUBSCRIBE", "__redis__:invalidate")
        self.assertEqual(link.ask("CLIENT", "TRACKING", "ON", "REDIRECT",
                                  number), b"OK")
        self.assertEqual(link.ask("CLIENT", "GETREDIR"), number)
        link.ask("GET", "a")
        self.link.ask("SET", "a", 1)
        self.assertEqual(target.read(),
                         [b"message", b"__redis__:invalidate", [b"a"]])
        self.track("BCAST", "REDIRECT", number)
        self.assertEqual(target.ask("UNSUBSCRIBE")[2], 0)
        target.ask("QUIT")
        with self.assertRaises(EOFError):
            target.read()
        self.link.ask("SET", "a", 1)
        self.assertEqual(self.tracker.read(),
                         [b"tracking-redir-broken", number])

    def test_options_are_checked(self):
        ask = self.tracker.ask
        prefix = "before disabling tracking for this client, and then " \
                 "re-enabling it with a different mode."
        for words, error in (
                (("ON", "PREFIX", "a"),
                 "PREFIX option requires BCAST mode to be enabled"),
                (("ON", "BCAST", "OPTIN"),
                 "OPTIN and OPTOUT are not compatible with BCAST"),
                (("ON", "OPTIN", "OPTOUT"),
                 "You can't specify both OPTIN mode and OPTOUT mode"),
                (("ON", "REDIRECT", 12345),
                 "The client ID you want redirect to does not exist"),
                (("ON", "BCAST", "PREFIX", "ab", "PREFIX", "a"),
                 "Prefix 'ab' overlaps with another provided prefix 'a'. "
                 "Prefixes for a single client must not overlap."),
                (("MAYBE",), "syntax error")):
            self.assertEqual(ask("CLIENT", "TRACKING", *words), f"ERR {error}")
        self.assertEqual(
            ask("CLIENT", "CACHING", "YES"),
            "ERR CLIENT CACHING can be called only when the client is in "
            "tracking mode with OPTIN or OPTOUT mode enabled")
        self.track("OPTIN")
        self.assertEqual(ask("CLIENT", "CACHING", "YES"), b"OK")
        self.assertEqual(ask("CLIENT", "CACHING", "NO"),
                         "ERR CLIENT CACHING NO is only valid when tracking is "
                         "enabled in OPTOUT mode.")
        self.assertEqual(ask("CLIENT", "TRACKING", "ON", "BCAST"),
                         f"ERR You can't switch BCAST mode on/off {prefix}")

    def test_a_client_that_has_gone_is_not_notified(self):
        for _ in range(20):
            one = self.server.connect()
            one.ask("HELLO", 3)
            one.ask("CLIENT", "TRACKING", "ON")
            one.ask("GET", "a")
            one.close()
            self.connect().ask("SET", "a", "1")
        self.track()
        self.tracker.ask("GET", "a")
        self.link.ask("SET", "a", "2")
        self.told(b"a")

    def test_its_state_is_shown(self):
        ask = self.tracker.ask
        self.assertEqual(ask("CLIENT", "GETREDIR"), -1)
        self.assertEqual(ask("CLIENT", "TRACKINGINFO"),
                         {b"flags": [b"off"], b"redirect": -1, b"prefixes": []})
        self.track("BCAST", "PREFIX", "a", "NOLOOP")
        self.assertEqual(ask("CLIENT", "TRACKINGINFO"),
                         {b"flags": [b"on", b"bcast", b"noloop"],
                          b"redirect": 0, b"prefixes": [b"a"]})

    def test_only_what_was_read_is_reported_and_once_until_read_again(self):
        self.track()
        self.link.ask("SET", "b", 1)
        self.tracker.ask("MGET", "a", "c")
        for _ in range(2):
            self.link.ask("SET", "a", 1)
            self.link.ask("SET", "b", 1)
        self.told(b"a")
        self.tracker.ask("GET", "a")
        self.link.ask("DEL", "a")
        self.told(b"a")
        self.link.ask("SET", "c", 1)
        self.told(b"c")

    def test_what_is_read_after_the_write_of_a_pipeline_is_not_reported(self):
        self.track()
        self.tracker.socket.sendall(encode("SET", "a", 1) +
                                    encode("GET", "a"))
        self.assertEqual([self.tracker.read() for _ in range(2)], [b"OK", b"1"])
        self.told()
        self.tracker.socket.sendall(encode("GET", "a") + encode("SET", "a", 2))
        self.assertEqual([self.tracker.read() for _ in range(2)], [b"1", b"OK"])
        self.told(b"a")

    def test_own_changes_are_not_reported_with_noloop(self):
        self.track("NOLOOP")
        self.tracker.ask("MGET", "a", "b")
        self.tracker.ask("SET", "a", 1)
        self.link.ask("SET", "a", 1)
        self.link.ask("SET", "b", 1)
        self.told(b"b")
        self.tracker.ask("CLIENT", "TRACKING", "OFF")
        self.track("NOLOOP", "BCAST")
        self.tracker.ask("SET", "a", 1)
        self.told()
        self.tracker.socket.sendall(encode("SET", "a", 1) + encode("PING"))
        self.link.ask("SET", "b", 1)
        self.assertEqual([self.tracker.read() for _ in range(2)],
                         [b"OK", b"PONG"])
        self.told(b"b")

    def test_a_transaction_is_one_message_for_each_prefix(self):
        self.track("BCAST", "PREFIX", "a", "PREFIX", "b")
        for words in (["MULTI"], ["SET", "b1", 1], ["SET", "a2", 1],
                      ["SET", "c", 1], ["SET", "a1", 1], ["SET", "a1", 2],
                      ["EXEC"]):
            self.link.ask(*words)
        messages = sorted(self.tracker.read()[1] for _ in range(2))
        self.assertEqual(messages, [[b"a1", b"a2"], [b"b1"]])
        self.told()

    def test_caching_is_of_the_next_request_or_transaction(self):
        ask = self.tracker.ask
        self.track("OPTIN")
        ask("GET", "a")
        ask("CLIENT", "CACHING", "YES")
        ask("GET", "b")
        ask("GET", "c")
        for key in "abc":
            self.link.ask("SET", key, 1)
        self.told(b"b")
        for words in (["CLIENT", "CACHING", "YES"], ["MULTI"], ["GET", "a"],
                      ["GET", "b"], ["EXEC"], ["GET", "c"]):
            ask(*words)
        for key in "abc":
            self.link.ask("SET", key, 1)
        self.assertEqual(self.tracker.read(), [b"invalidate", [b"a"]])
        self.told(b"b")
        ask("CLIENT", "TRACKING", "OFF")
        self.track("OPTOUT")
        ask("CLIENT", "CACHING", "NO")
        ask("GET", "a")
        ask("GET", "b")
        self.link.ask("MSET", "a", 1, "b", 1)
        self.told(b"b")

    def test_keys_that_expire_are_reported(self):
        self.track()
        self.link.ask("SET", "a", 1, "PX", 20)
        self.tracker.ask("GET", "a")
        self.told(b"a")
        self.tracker.ask("CLIENT", "TRACKING", "OFF")
        self.track("BCAST", "NOLOOP")
        self.tracker.ask("SET", "b", 1, "PX", 20)
        self.told(b"b")

    def test_beyond_the_limit_keys_are_forgotten_and_reported(self):
        ask = self.link.ask
        self.track()
        keys = [b"k%d" % i for i in range(2500)]
        self.tracker.ask("MGET", *keys)
        self.assertEqual(ask("CONFIG", "SET", "tracking-table-max-keys", 3),
                         b"OK")
        told = [self.tracker.read()[1][0] for _ in range(2497)]
        self.told()
        self.assertEqual(self.info("tracking_total_keys"), 3)
        left = set(keys) - set(told)
        self.assertEqual(len(left), 3)
        for key in left:
            ask("SET", key, 1)
        self.assertEqual({self.tracker.read()[1][0] for _ in range(3)}, left)
        self.told()
        self.assertEqual(ask("CONFIG", "GET", "tracking-table-max-keys"),
                         [b"tracking-table-max-keys", b"3"])

    def test_pairs_of_a_key_and_a_client_are_limited(self):
        self.link.ask("CONFIG", "SET", "tracking-table-max-keys", 1)
        self.track()
        self.tracker.ask("GET", "a")
        for _ in range(15):
            link = self.connect()
            link.ask("CLIENT", "TRACKING", "ON")
            link.ask("GET", "a")
        self.assertEqual(self.info("tracking_total_items"), 16)
        self.told()
        self.link.ask("CLIENT", "TRACKING", "ON")
        self.link.ask("GET", "a")
        self.told(b"a")
        self.assertEqual(self.info("tracking_total_items"), 0)

    def test_tracking_does_not_begin_in_a_transaction(self):
        ask = self.tracker.ask
        for words in (["MULTI"], ["CLIENT", "TRACKING", "ON"], ["GET", "a"]):
            ask(*words)
        self.assertEqual(ask("EXEC"),
                         ["ERR CLIENT TRACKING is not allowed inside a "
                          "transaction", None])
        self.assertEqual(self.info("tracking_clients"), 0)

    def test_flushall_is_one_message_by_any_process(self):
        self.track()
        _, link = self.other()
        for one in (self.link, link):
            self.tracker.ask("MGET", "a", "b")
            one.ask("SET", "c", 1)
            one.ask("FLUSHALL")
            self.assertEqual(self.tracker.read(), [b"invalidate", None])
            one.ask("SET", "a", 1)
            self.told()

    def test_keys_of_subcommands_are_tracked(self):
        self.link.ask("XADD", "x", "1-1", "f", "v")
        self.link.ask("SET", "a", 1)
        self.track()
        for key, *words in (("x", "XINFO", "STREAM", "x"),
                            ("x", "XINFO", "GROUPS", "x"),
                            ("a", "OBJECT", "ENCODING", "a"),
                            ("a", "OBJECT", "REFCOUNT", "a"),
                            ("a", "MEMORY", "USAGE", "a")):
            with self.subTest(words=words):
                self.tracker.ask(*words)
                self.assertEqual(self.info("tracking_total_keys"), 1)
                self.link.ask("PEXPIRE", key, 10 ** 9)
                self.told(key.encode())
        self.tracker.ask("OBJECT", "HELP")
        self.assertEqual(self.info("tracking_total_keys"), 0)

    def test_what_scripts_read_is_tracked(self):
        ask = self.tracker.ask
        self.track()
        ask("EVAL", "return redis.call('set', KEYS[1], 1)", 1, "a")
        ask("EVAL_RO", "return redis.call('ping')", 1, "a")
        self.link.ask("SET", "a", 1)
        self.told()
        ask("EVAL", "return redis.call('mget', KEYS[1], 'b')", 2, "a", "z")
        self.link.ask("MSET", "a", 1, "b", 1, "z", 1)
        self.assertEqual(sorted(self.tracker.read()[1][0] for _ in range(3)),
                         [b"a", b"b", b"z"])
        self.told()
        self.link.ask("PFADD", "h", "a")
        for name in ("pfcount", "exists"):
            ask("EVAL", f"return redis.call('{name}', KEYS[1])", 1, "h")
            self.link.ask("PFADD", "h", name)
            self.told(b"h")
        ask("MULTI")
        ask("EVAL", "return redis.pcall('object', 'freq', KEYS[1])", 1, "h")
        ask("EXEC")
        self.link.ask("DEL", "h")
        self.told(b"h")
        ask("EVAL", "redis.call('get', KEYS[1]) "
                    "return redis.call('set', KEYS[1], 1)", 1, "a")
        self.told(b"a")

    def test_what_is_tracked_is_counted(self):
        self.track("BCAST", "PREFIX", "a", "PREFIX", "b")
        self.link.ask("HELLO", 3)
        self.link.ask("CLIENT", "TRACKING", "ON")
        self.link.ask("MGET", "x", "y")
        third = self.connect()
        third.ask("CLIENT", "TRACKING", "ON", "NOLOOP")
        third.ask("GET", "x")
        for name, count in (("clients", 3), ("total_keys", 2),
                            ("total_items", 3), ("total_prefixes", 2)):
            self.assertEqual(self.info(f"tracking_{name}"), count, name)
        third.ask("CLIENT", "TRACKING", "OFF")
        self.tracker.ask("RESET")
        for name, count in (("clients", 1), ("total_keys", 2),
                            ("total_items", 2), ("total_prefixes", 0)):
            self.assertEqual(self.info(f"tracking_{name}"), count, name)

    def test_what_a_killed_process_committed_is_reported(self):
        self.track()
        chance = random.Random(1)
        for _ in range(30):
            other, link = self.other()
            link.socket.sendall(b"".join(encode("INCR", "a")
                                         for _ in range(20000)))
            link.read()
            time.sleep(chance.uniform(0, 0.01))
            seen = self.tracker.ask("GET", "a")
            told = isinstance(seen, list)
            while isinstance(seen, list):
                seen = self.tracker.read()
            other.process.kill()
            other.process.wait(TIMEOUT)
            other.process.stdout.close()
            link.close()
            now = self.link.ask("GET", "a")
            if now != seen and not told:
                self.assertEqual(self.tracker.read(), [b"invalidate", [b"a"]])
            self.tracker.ask("CLIENT", "TRACKING", "OFF")
            self.drain()
            self.track()

    def drain(self):
        self.tracker.send("ECHO", "end")
        while self.tracker.read() != b"end":
            pass


if __name__ == "__main__":
    unittest.main()
