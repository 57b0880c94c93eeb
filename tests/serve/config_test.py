# SPDX-License-Identifier: Apache-2.0
"""config_test.py PROGRAM - CONFIG and SLOWLOG."""

import sys
import unittest

from server import Server

PROGRAM = sys.argv.pop()
FAILED = "ERR CONFIG SET failed (possibly related to argument '%s') - %s"


class Config(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM, url="?max_size=64M")
        self.addCleanup(self.server.close)
        self.link = self.server.connect()
        self.addCleanup(self.link.close)

    def config(self, *words):
        return self.link.ask("CONFIG", *words)

    def ask_new(self, *words):
        """The first reply on a new connection."""
        link = self.server.connect()
        self.addCleanup(link.close)
        return link.ask(*words)

    def test_parameters_are_read_by_patterns(self):
        self.assertEqual(self.config("GET", "nosuch"), [])
        self.assertEqual(self.config("GET", "SAVE", "append*only"),
                         [b"appendonly", b"no", b"save", b""])
        self.assertEqual(self.config("GET", "maxmemory"),
                         [b"maxmemory", str(64 << 20).encode()])
        self.assertEqual(self.config("GET", "unixsocket"),
                         [b"unixsocket", self.server.path.encode()])

    def test_all_or_none_is_set(self):
        self.assertEqual(
            self.config("SET", "maxclients", 77, "save", ""), b"OK")
        self.assertEqual(
            self.config("SET", "maxclients", 78, "databases", 17),
            FAILED % ("databases", "can't set immutable config"))
        self.assertEqual(
            self.config("SET", "maxclients", 78, "MAXclients", 79),
            FAILED % ("maxclients", "duplicate parameter"))
        self.assertEqual(
            self.config("SET", "maxmemory", 1, "maxmemory", 2),
            FAILED % ("maxmemory", "duplicate parameter"))
        self.assertEqual(
            self.config("SET", "maxclients", 0),
            FAILED % ("maxclients",
                      "argument must be between 1 and 1000000 inclusive"))
        self.assertEqual(
            self.config("SET", "a", "b"),
            "ERR Unknown option or number of arguments for CONFIG SET - 'a'")
        self.assertEqual(self.config("GET", "maxclients"),
                         [b"maxclients", b"77"])

    def test_a_timeout_below_a_second_is_not_shown_as_none(self):
        with Server(PROGRAM, "--timeout", "250ms") as server:
            link = server.connect()
            self.assertEqual(link.ask("CONFIG", "GET", "timeout"),
                             [b"timeout", b"1"])
            link.close()

    def test_idle_connections_are_closed(self):
        idle, hears = self.server.connect(), self.server.connect()
        hears.ask("SUBSCRIBE", "a")
        self.assertEqual(self.config("GET", "timeout"), [b"timeout", b"0"])
        self.assertEqual(self.config("SET", "timeout", 1), b"OK")
        self.assertEqual(self.config("GET", "timeout"), [b"timeout", b"1"])
        with self.assertRaises(EOFError):
            idle.read()
        link = self.server.connect()
        self.assertEqual(link.ask("PUBLISH", "a", "b"), 1)
        link.close()
        hears.close()
        idle.close()

    def test_slow_commands_are_logged(self):
        ask = self.link.ask
        ask("CLIENT", "SETNAME", "me")
        self.config("SET", "slowlog-log-slower-than", 0)
        ask("RPUSH", "l", *range(40))
        ask("SET", "k", "x" * 1000)
        self.config("SET", "slowlog-log-slower-than", -1)
        value, push, _ = ask("SLOWLOG", "GET")
        self.assertEqual(value[3][2], b"x" * 128 + b"... (872 more bytes)")
        self.assertEqual(push[0], 1)
        self.assertEqual(push[3][30:],
                         [b"28", b"... (11 more arguments)"])
        self.assertEqual(push[4:], [self.server.path.encode() + b":0", b"me"])
        self.assertEqual(ask("SLOWLOG", "LEN"), 3)
        self.config("SET", "slowlog-max-len", 2)
        self.assertEqual(len(ask("SLOWLOG", "GET", -1)), 2)
        self.assertEqual(ask("SLOWLOG", "RESET"), b"OK")
        self.assertEqual(ask("SLOWLOG", "GET"), [])

    def test_a_password_can_be_required(self):
        new = self.ask_new
        self.config("SET", "slowlog-log-slower-than", 0)
        self.assertIn("maxclients", self.link.ask(
            "CONFIG", "SET", "requirepass", "secret", "maxclients", "x"))
        self.assertEqual(new("PING"), b"PONG")
        self.assertEqual(self.config("SET", "requirepass", "secret"), b"OK")
        self.assertEqual(self.link.ask("PING"), b"PONG")
        self.assertIn("NOAUTH", new("PING"))
        self.assertIn("WRONGPASS", new("AUTH", ""))
        self.assertEqual(new("AUTH", "secret"), b"OK")
        self.assertEqual(self.config("GET", "requirepass"),
                         [b"requirepass", b""])
        self.assertEqual(self.config("SET", "requirepass", "other"), b"OK")
        self.assertIn("WRONGPASS", new("AUTH", "secret"))
        self.assertNotIn(b"secret", repr(self.link.ask("SLOWLOG", "GET", -1))
                         .encode())
        self.assertEqual(self.config("SET", "requirepass", ""), b"OK")
        self.assertEqual(new("PING"), b"PONG")

    def test_a_password_fits_into_a_login(self):
        most, why = "x" * 16384, "A password has at most 16384 bytes"
        for words in (("CONFIG", "SET", "requirepass"),
                      ("ACL", "SETUSER", "default", "resetpass")):
            sign = "" if words[0] == "CONFIG" else ">"
            self.assertIn(why, str(self.link.ask(*words, sign + most + "x")))
            self.assertEqual(self.ask_new("PING"), b"PONG")
            self.assertEqual(self.link.ask(*words, sign + most), b"OK")
            self.assertEqual(self.ask_new("AUTH", most), b"OK")
            self.assertEqual(self.config("SET", "requirepass", ""), b"OK")

    def test_only_who_may_change_users_requires_a_password(self):
        refused = ("NOPERM this user has no permissions to run the "
                   "'acl|setuser' command")
        self.link.ask("ACL", "SETUSER", "ops", "on", ">p", "+config", "+multi",
                      "+exec")
        link = self.server.connect()
        self.addCleanup(link.close)
        self.assertEqual(link.ask("AUTH", "ops", "p"), b"OK")
        for words in (("requirepass", "mine"), ("requirepass", ""),
                      ("timeout", 7, "requirepass", "mine")):
            self.assertEqual(link.ask("CONFIG", "SET", *words), refused)
        link.ask("MULTI")
        link.ask("CONFIG", "SET", "requirepass", "mine")
        self.assertEqual(link.ask("EXEC"), [refused])
        self.assertEqual(link.ask("CONFIG", "GET", "timeout"),
                         [b"timeout", b"0"])
        self.assertEqual(link.ask("CONFIG", "SET", "timeout", 0), b"OK")
        self.assertEqual(self.ask_new("PING"), b"PONG")
        self.link.ask("ACL", "SETUSER", "ops", "+acl|setuser")
        self.assertEqual(link.ask("CONFIG", "SET", "requirepass", "mine"),
                         b"OK")

    def test_only_what_is_slow_is_logged(self):
        self.config("SET", "slowlog-log-slower-than", 50000)
        slow = "for i = 1, 60000000 do end"
        for _ in range(2):
            self.link.send("SET", "a", "b")
            self.link.send("EVAL", slow, 0)
        for _ in range(4):
            self.link.read()
        names = [entry[3][0] for entry in self.link.ask("SLOWLOG", "GET")]
        self.assertEqual(names, [b"EVAL"] * 2)


if __name__ == "__main__":
    unittest.main()
