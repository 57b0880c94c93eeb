# SPDX-License-Identifier: Apache-2.0
"""resp3_test.py PROGRAM - which type each command's reply has in RESP3, as from
redis-server 7.0.15."""

import sys
import unittest

from server import Server

PROGRAM = sys.argv.pop()

DATA = """SADD s a
ZADD z 1 a 2.5 b
HSET h f 1
MSET t abcdef u abxdef"""

# A command, and the bytes of its reply.
REPLIES = """SMEMBERS s | ~1 $1 a
SMEMBERS none | ~0
SINTER s s | ~1 $1 a
SUNION s none | ~1 $1 a
SDIFF none s | ~0
SPOP s 0 | ~0
SPOP none | _
SRANDMEMBER s 5 | *1 $1 a
SRANDMEMBER s -1 | *1 $1 a
SSCAN s 0 | *2 $1 0 *1 $1 a
SPOP s 5 | ~1 $1 a
HGETALL h | %1 $1 f $1 1
HGETALL none | %0
HRANDFIELD h 1 | *1 $1 f
HRANDFIELD h 1 WITHVALUES | *1 *2 $1 f $1 1
HRANDFIELD h -1 WITHVALUES | *1 *2 $1 f $1 1
HKEYS h | *1 $1 f
HINCRBYFLOAT h f 0.5 | $3 1.5
ZRANGE z 0 -1 WITHSCORES | *2 *2 $1 a ,1 *2 $1 b ,2.5
ZRANGE z 0 0 | *1 $1 a
ZRANGE none 0 -1 WITHSCORES | *0
ZREVRANGEBYSCORE z 9 2 WITHSCORES | *1 *2 $1 b ,2.5
ZUNION 1 z WITHSCORES | *2 *2 $1 a ,1 *2 $1 b ,2.5
ZDIFF 1 none WITHSCORES | *0
ZRANDMEMBER z -1 | *1 $1
ZSCORE z b | ,2.5
ZSCORE z none | _
ZMSCORE z a none | *2 ,1 _
ZSCAN z 0 | *2 $1 0 *4 $1 a $1 1 $1 b $3 2.5
ZADD z INCR 1 a | ,2
ZADD z NX INCR 1 a | _
ZINCRBY z inf a | ,inf
ZMPOP 1 z MAX | *2 $1 z *1 *2 $1 a ,inf
ZPOPMIN z 0 | *0
ZADD z 1 a | :1
ZPOPMIN z | *2 $1 a ,1
ZPOPMIN z 1 | *1 *2 $1 b ,2.5
ZPOPMIN none | *0
LCS t u LEN | :5
LCS t u IDX MINMATCHLEN 3 | %2 $7 matches *1 *2 *2 :3 :5 *2 :3 :5 $3 len :5
LPOP none 1 | _
LMPOP 1 none LEFT | _
MGET t none | *2 $6 abcdef _
BITFIELD t OVERFLOW FAIL SET u2 0 7 | *1 _"""


class Resp3(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.close)
        self.link = self.server.connect()
        self.addCleanup(self.link.close)
        self.assertEqual(self.link.ask("HELLO", 3)[b"proto"], 3)

    def test_replies_have_the_types_of_redis(self):
        for line in DATA.split("\n"):
            self.link.ask(*line.split())
        for line in REPLIES.split("\n"):
            words, want = line.split(" | ")
            self.link.send(*words.split())
            want = want.replace(" ", "\r\n").encode()
            got = b""
            while len(got) < len(want):
                got += self.link.lines.readline()
                self.assertTrue(got, words)
            self.assertEqual(got[:len(want)], want, words)
            if want.endswith(b"$1"):
                self.link.lines.readline()


if __name__ == "__main__":
    unittest.main()
