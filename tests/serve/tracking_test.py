# SPDX-License-Identifier: Apache-2.0
"""tracking_test.py PROGRAM - CLIENT TRACKING."""

import subprocess
import sys
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
            one.close()
            self.connect().ask("SET", "a", "1")
        self.track()
        self.link.ask("SET", "a", "2")
        self.assertEqual(self.tracker.read(), [b"invalidate", [b"a"]])

    def test_its_state_is_shown(self):
        ask = self.tracker.ask
        self.assertEqual(ask("CLIENT", "GETREDIR"), -1)
        self.assertEqual(ask("CLIENT", "TRACKINGINFO"),
                         {b"flags": [b"off"], b"redirect": -1, b"prefixes": []})
        self.track("BCAST", "PREFIX", "a", "NOLOOP")
        self.assertEqual(ask("CLIENT", "TRACKINGINFO"),
                         {b"flags": [b"on", b"bcast", b"noloop"],
                          b"redirect": 0, b"prefixes": [b"a"]})


if __name__ == "__main__":
    unittest.main()
