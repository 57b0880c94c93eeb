# SPDX-License-Identifier: Apache-2.0
"""notify_test.py PROGRAM - keyspace notifications."""

import subprocess
import sys
import unittest

from server import TIMEOUT, Server

PROGRAM = sys.argv.pop()

# Commands, and the events of redis-server 7.0.15 with KEAn.
EVENTS = """
set a 1                     | new a, set a
set a 1 ex 100              | set a, expire a
setnx a 2                   |
append a x                  | append a
decrby n 2                  | new n, incrby n
bitop or d a a              | new d, set d
mset m1 1 m2 2              | new m1, set m1, new m2, set m2
getdel m1                   | del m1
getex m2 ex 100             | expire m2
getex m2 persist            | persist m2
persist a                   | persist a
persist a                   |
expire a -1                 | del a
del m2 d nothing            | del m2, del d
rpush l 1 2 3 4             | new l, rpush l
linsert l before zz 9       |
linsert l before 1 9        | linsert l
ltrim l 0 -1                | ltrim l
lrem l 0 9                  | lrem l
lpop l 0                    |
lpop l 2                    | lpop l
lmove l l2 left right       | new l2, rpush l2, lpop l
rpoplpush l l2              | lpush l2, rpop l, del l
lmpop 2 none l2 left count 5| lpop l2, del l2
sadd s a b c                | new s, sadd s
sadd s a                    |
srem s zz                   |
smove s s2 b                | srem s, new s2, sadd s2
spop s 5                    | spop s, del s
srem s2 b                   | srem s2, del s2
sadd x 1 2                  | new x, sadd x
sunionstore z x             | new z, sunionstore z
sdiffstore z x x            | del z
sort x store k              | new k, sortstore k
hset h a 1 b 2              | new h, hset h
hsetnx h a 2                |
hincrby h a 1               | hincrby h
hdel h zz                   |
hdel h a b                  | hdel h, del h
zadd q 1 a 2 b 3 c 4 d      | new q, zadd q
zadd q 1 a                  |
zincrby q 1 a               | zincr q
zremrangebyrank q 0 0       | zremrangebyrank q
zpopmax q                   | zpopmax q
zunionstore q2 1 q          | new q2, zunionstore q2
zinterstore q2 2 q none     | del q2
zrem q zz b c               | zrem q, del q
zmpop 1 q min count 9       |
set t 1                     | new t, set t
rename t u                  | new u, rename_from t, rename_to u
renamenx u u                |
copy u v                    | new v, copy_to v
unlink u                    | del u
"""


def parse(line):
    command, events = line.split("|")
    return command.split(), [tuple(event.encode().split())
                             for event in events.split(",") if event.strip()]


class Notifications(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM, url="?script_budget_ms=50")
        self.addCleanup(self.server.__exit__)
        self.link = self.connect()
        self.reader = self.connect()

    def connect(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link

    def listen(self, flags, *patterns):
        self.assertEqual(self.link.ask("CONFIG", "SET",
                                       "notify-keyspace-events", flags), b"OK")
        self.reader.send("PSUBSCRIBE", *patterns)
        for _ in patterns:
            self.reader.read()

    def events(self):
        """What was received by now: (event, key)."""
        self.link.ask("PUBLISH", "__keyevent@0__:end", "")
        found = []
        while True:
            channel, text = self.reader.read()[2:]
            event = channel.split(b":", 1)[1]
            if event == b"end":
                return found
            found.append((event, text))

    def test_each_command_has_its_events(self):
        self.listen("EAn", "__keyevent@0__:*")
        for line in EVENTS.strip().splitlines():
            command, expected = parse(line)
            self.link.ask(*command)
            self.assertEqual(self.events(), expected, line)

    def test_channels_are_of_the_key_or_of_the_event(self):
        self.listen("KEg", "__key*")
        self.link.ask("SET", "a", 1)
        self.link.ask("DEL", "a")
        self.assertEqual(self.reader.read()[2:], [b"__keyspace@0__:a", b"del"])
        self.assertEqual(self.reader.read()[2:], [b"__keyevent@0__:del", b"a"])
        self.link.ask("CONFIG", "SET", "notify-keyspace-events", "K$")
        self.link.ask("SET", "a", 1)
        self.assertEqual(self.reader.read()[2:], [b"__keyspace@0__:a", b"set"])
        self.link.ask("CONFIG", "SET", "notify-keyspace-events", "")
        self.link.ask("SET", "a", 1)
        self.assertEqual(self.events(), [])

    def test_the_parameter_is_shown_as_by_redis(self):
        for flags, shown in (("KEA", b"AKE"), ("Kn", b"nK"), ("AKEm", b"AKEm"),
                             ("KEg$lshzxe", b"g$lshzxeKE"), ("", b"")):
            self.link.ask("CONFIG", "SET", "notify-keyspace-events", flags)
            self.assertEqual(self.link.ask("CONFIG", "GET",
                                           "notify-keyspace-events")[1], shown)
        self.assertEqual(
            self.link.ask("CONFIG", "SET", "notify-keyspace-events", "Kq"),
            "ERR CONFIG SET failed (possibly related to argument "
            "'notify-keyspace-events') - Invalid event class character. Use "
            "'Ag$lshzxeKEtmdn'.")

    def test_keys_expire_while_no_one_writes(self):
        self.listen("Ex", "__keyevent@0__:*")
        for i in range(100):
            self.link.ask("PSETEX", f"k{i}", 1, "x")
        expired = {self.reader.read()[3] for _ in range(100)}
        self.assertEqual(expired, {b"k%d" % i for i in range(100)})

    def test_programs_that_have_the_store_open_cause_events(self):
        self.listen("Eg", "__keyevent@0__:*")
        for words in (("SET", "a", "1"), ("DEL", "a")):
            subprocess.run([PROGRAM, "--store", self.server.store, "command",
                            *words], check=True, capture_output=True,
                           timeout=TIMEOUT)
        self.assertEqual(self.reader.read()[2:], [b"__keyevent@0__:del", b"a"])

    def test_what_is_undone_causes_none(self):
        self.listen("EA", "__keyevent@0__:*")
        self.link.ask("EVAL", "redis.call('set', 'a', 1) while 1 do end", 0)
        self.link.send("MULTI")
        self.link.ask("INCR", "n")
        self.link.ask("LPUSH", "l", 1)
        self.link.ask("EXEC")
        self.assertEqual(self.events(), [(b"incrby", b"n"), (b"lpush", b"l")])


if __name__ == "__main__":
    unittest.main()
