# SPDX-License-Identifier: Apache-2.0
"""function_test.py PROGRAM - libraries of functions: as a Redis has them, shared
by the processes of a store, and kept when one is killed."""

import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from server import Connection, Error, Server, slower, until_busy

PROGRAM = sys.argv.pop()
KILLS = int(os.environ.get("HF_TEST_KILLS", "6"))


def library(name, *functions):
    return f"#!lua name={name}\n" + "\n".join(
        f"redis.register_function('{each}', function(keys, args) "
        f"return '{name}' end)" for each in functions)


class Redis:
    """A redis-server on a unix socket."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="holdfast-redis-")
        path = os.path.join(self.folder, "socket")
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
             "--dir", self.folder], stdout=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while True:
            try:
                self.link = Connection(path)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def close(self):
        self.link.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


# What is sent to both servers, whose replies must be equal.
CODES = [
    "", "xx", "#!lua", "#!lua name=a", "#!lua name=\n1", "#!lua name=a-b\n1",
    "#!lua x=1 name=a\n1", "#!xx name=a\n1", "#! name=a\n1", "#!\n1",
    "#!LUA name=a name=b\n1", '#!lua name="a\n1', "#!lua name=a\nreturn 1",
    "#!lua name=a\nx x", "#!lua name=a\nx()", "#!lua name=a\nx = 1",
    "#!lua name=a\nredis.call('ping')", "#!lua name=a\nmath.random()",
    "#!lua name=a\ngetmetatable(_G)", "#!lua name=a\nerror({err='x y'})",
    "#!lua name=a\nlocal x = {} x.a.b = 1",
    "#!lua name=a\nreturn ('x'):rep(3) .. nil",
    "#!lua name=a\nredis.x = 1", "#!lua name=a\nredis.log(1)",
    "#!lua name=a\nlocal function f() return f() end return f(f)(1)(2)",
] + ["#!lua name=a\nredis.register_function" + arguments for arguments in (
    "()", "(1)", "('f')", "('f', 1)", "(nil, function() end)", "({}, 1)",
    "('f', function() end, 1)", "('f-', function() end)", "{}", "{1}",
    "('', function() end)", "{function_name='f'}", "{callback=redis.log}",
    "{function_name={}, callback=redis.log}", "{description={}}",
    "{callback=1}", "{flags=1}", "{flags={1}}", "{flags={{}}}", "{[{}]=1}",
    "{flags={'x'}}", "{FUNCTION_NAME=1, CALLBACK=redis.log}")
] + [
    library("a", "f"), library("a", "f"), library("b", "F"),
    library("c", "f1", "f1"), library("d", "d1"),
    "#!lua name=e\nredis.register_function{function_name='e', description='t', "
    "flags={'no-writes', 'ALLOW-STALE'}, callback=function(keys, args) "
    "return redis.call(unpack(args)) end}",
    "#!lua name=g\nlocal r, n = redis, 0 "
    "r.register_function('g1', function() x = 1 end) "
    "r.register_function('g2', function() return x end) "
    "r.register_function('g3', function() n = n + 1 return n end) "
    "r.register_function('g4', function() error('text') end) "
    "r.register_function('g5', function() error({err='MY text'}) end) "
    "r.register_function('g6', function() r.register_function('x', r.log) end) "
    "r.register_function('g7', function() redis.register_function() end) "
    "r.register_function('g8', function(...) return {#{...}, (...)[1]} end) "
    "r.register_function('g9', function() return {KEYS, ARGV} end) "
    "r.register_function('g10', function() redis.setresp(3) "
    "return redis.call('hgetall', 'h') end) "
    "r.register_function('g11', function() return r.call('ping') end) "
    "r.register_function('g12', function(k, a) return redis.call('set', k[1], "
    "a[1]) end)",
]
CALLS = [("FCALL", name, *more) for name in (
    "f", "F", "nosuch", "d1", "e", *(f"g{i}" for i in range(1, 13)))
    for more in ((), (0,), (1, "k", "ping"), (0, "set", "k", "v"), (5,), (-1,),
                 ("x",))]
OTHERS = [
    ("FUNCTION",), ("FUNCTION", "XX"), ("FUNCTION", "LOAD"),
    ("FUNCTION", "LOAD", "REPLACE"), ("FUNCTION", "LOAD", "X", "Y"),
    ("FUNCTION", "DELETE"), ("FUNCTION", "DELETE", "nosuch"),
    ("FUNCTION", "FLUSH", "X"), ("FUNCTION", "FLUSH", "SYNC", "X"),
    ("FUNCTION", "RESTORE", "x"), ("FUNCTION", "RESTORE", "x", "y"),
    ("FUNCTION", "RESTORE", "x", "y", "z"), ("FUNCTION", "LIST", "X"),
    ("FUNCTION", "LIST", "LIBRARYNAME"),
    ("FUNCTION", "LIST", "WITHCODE", "WITHCODE"),
    ("FUNCTION", "LIST", "LIBRARYNAME", "e", "WITHCODE"),
    ("FUNCTION", "LIST", "LIBRARYNAME", "[a]*"), ("FUNCTION", "STATS"),
    ("FUNCTION", "KILL"), ("FUNCTION", "LOAD", "REPLACE", library("a", "d1")),
    ("FUNCTION", "LOAD", "REPLACE", library("a", "f2")),
    ("FUNCTION", "LOAD", "REPLACE", library("a", "f3", "f3")),
    ("FCALL", "f2", 0), ("FCALL", "f", 0), ("FUNCTION", "DELETE", "a"),
    ("FCALL", "f2", 0), ("FLUSHALL",), ("FCALL", "g3", 0), ("DBSIZE",),
    ("EVAL", "return redis.call('FCALL', 'g3', 0)", 0),
    ("EVAL", "return redis.call('FUNCTION', 'LIST')", 0),
    ("COMMAND", "GETKEYS", "FCALL", "f", 2, "a", "b", "c"),
]


@unittest.skipIf(shutil.which("redis-server") is None, "needs redis-server")
class LikeRedis(unittest.TestCase):
    def setUp(self):
        self.redis = Redis()
        self.addCleanup(self.redis.close)
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.close)
        self.link = self.server.connect()
        self.addCleanup(self.link.close)

    def compare(self, *words):
        want = self.redis.link.ask(*words)
        got = self.link.ask(*words)
        self.assertEqual((type(got), got), (type(want), want), words)

    def test_replies_are_equal(self):
        if not self.redis.link.ask("INFO", "server").count(b":7.0."):
            self.skipTest("another version than 7.0 has other texts")
        for version in 2, 3:
            self.redis.link.ask("HELLO", version)
            self.link.ask("HELLO", version)
            self.compare("FUNCTION", "FLUSH")
            self.compare("HSET", "h", "a", "b")
            for code in CODES:
                self.compare("FUNCTION", "LOAD", code)
            for words in CALLS:
                self.compare(*words)
                self.compare(words[0] + "_RO", *words[1:])
            for words in OTHERS:
                self.compare(*words)

    def test_payload_of_each_is_read_by_the_other(self):
        links = self.redis.link, self.link
        padding = "\n-- " + "compressible " * 500
        for code in (library("a", "a1", "a2") + padding, library("b", "b1")):
            self.assertIsInstance(links[0].ask("FUNCTION", "LOAD", code), bytes)
        listed = links[0].ask("FUNCTION", "LIST", "LIBRARYNAME", "a", "WITHCODE")
        for source, target in (links, reversed(links)):
            payload = source.ask("FUNCTION", "DUMP")
            target.ask("FUNCTION", "FLUSH")
            self.assertEqual(target.ask("FUNCTION", "RESTORE", payload), b"OK")
            self.assertEqual(target.ask("FCALL", "b1", 0), b"b")
            again = target.ask("FUNCTION", "LIST", "LIBRARYNAME", "a",
                               "WITHCODE")
            self.assertEqual(again[0][7], listed[0][7])
            self.assertIsInstance(target.ask("FUNCTION", "RESTORE", payload),
                                  Error)


class Processes(unittest.TestCase):
    def test_others_see_a_change_at_once(self):
        with Server(PROGRAM) as one, Server(PROGRAM, store=one.store) as two:
            first, second = one.connect(), two.connect()
            for i in range(20):
                code = library("l", "f", f"g{i}")
                first.ask("FUNCTION", "LOAD", "REPLACE", code)
                self.assertEqual(second.ask("FCALL", f"g{i}", 0), b"l")
                self.assertEqual(second.ask("FCALL", f"g{i - 1}", 0),
                                 "ERR Function not found")
                first, second = second, first
            second.ask("FLUSHALL")
            self.assertEqual(first.ask("FCALL", "f", 0), b"l")
            second.ask("FUNCTION", "FLUSH")
            self.assertEqual(first.ask("FUNCTION", "LIST"), [])
            first.close()
            second.close()

    def test_undone_change_is_not_seen(self):
        """A round that loads a library, and then is undone, as one of its
        scripts has used up its time."""
        with Server(PROGRAM, url="?script_budget_ms=200") as server:
            link = server.connect()
            link.ask("FUNCTION", "LOAD", library("m", "g"))
            self.assertEqual(link.ask("FCALL", "g", 0), b"m")
            link.send("MULTI")
            link.send("FUNCTION", "LOAD", library("l", "f"))
            link.send("FCALL", "f", 0)
            link.send("EVAL", "while true do end", 0)
            link.send("EXEC")
            self.assertIsInstance([link.read() for _ in range(5)][4], Error)
            self.assertEqual(link.ask("FCALL", "f", 0),
                             "ERR Function not found")
            self.assertEqual(link.ask("FCALL", "g", 0), b"m")
            self.assertEqual(len(link.ask("FUNCTION", "LIST")), 1)
            self.assertEqual(link.ask("FUNCTION", "LOAD", library("l", "f")),
                             b"l")
            link.close()

    def test_killed_while_loading(self):
        """What was acknowledged is there; a library is there wholly or not at
        all."""
        other = Server(PROGRAM, scheme="file")
        self.addCleanup(other.close)
        witness = other.connect()
        self.addCleanup(witness.close)
        for turn in range(KILLS):
            victim = Server(PROGRAM, store=other.store)
            link = victim.connect()
            done = []
            thread = threading.Thread(target=self.load_until_killed,
                                      args=(link, done))
            thread.start()
            time.sleep(random.uniform(0.05, 0.4) * slower(PROGRAM) ** 0.5)
            victim.process.kill()
            victim.process.wait()
            thread.join()
            victim.process.stdout.close()
            shutil.rmtree(victim.folder)
            last = done[-1] if done else 0
            number = witness.ask("FCALL", "f", 0) if done else None
            if done:
                self.assertIn(int(number), (last, last + 1), turn)
                self.assertEqual(witness.ask("FCALL", f"g{int(number)}", 0),
                                 number)
            witness.ask("FUNCTION", "FLUSH")
        self.assertEqual(
            subprocess.run([PROGRAM, "--store", other.store, "store", "check"],
                           stdout=subprocess.DEVNULL, check=False).returncode,
            0)

    @staticmethod
    def load_until_killed(link, done):
        try:
            for i in range(1, 100000):
                code = "#!lua name=l\n" + "".join(
                    f"redis.register_function('{name}', function() "
                    f"return '{i}' end) " for name in ("f", f"g{i}"))
                if link.ask("FUNCTION", "LOAD", "REPLACE", code) != b"l":
                    break
                done.append(i)
        except (OSError, EOFError):
            pass
        link.close()


class Served(unittest.TestCase):
    def test_busy(self):
        with Server(PROGRAM, url="?script_budget_ms=60000") as server:
            runs, asks = server.connect(), server.connect()
            asks.ask("CONFIG", "SET", "busy-reply-threshold", 20)
            asks.ask("FUNCTION", "LOAD",
                     "#!lua name=l\nredis.register_function('f', "
                     "function() while true do end end)")
            runs.send("FCALL", "f", 0, "word")
            until_busy(server)
            late = server.connect()
            late.ask("HELLO", 3)
            stats = late.ask("FUNCTION", "STATS")
            self.assertEqual(stats[b"running_script"][b"command"],
                             [b"FCALL", b"f", b"0", b"word"])
            self.assertEqual(stats[b"engines"][b"LUA"][b"functions_count"], 1)
            self.assertIn("FUNCTION KILL", late.ask("SCRIPT", "KILL"))
            self.assertEqual(late.ask("FUNCTION", "KILL"), b"OK")
            self.assertIn("killed by user with FUNCTION KILL", runs.read())
            self.assertIn("NOTBUSY", late.ask("FUNCTION", "KILL"))
            runs.send("EVAL", "while true do end", 0)
            until_busy(server)
            self.assertIn("SCRIPT KILL", late.ask("FUNCTION", "KILL"))
            self.assertIn("SCRIPT KILL", late.ask("FUNCTION", "STATS"))
            self.assertEqual(late.ask("SCRIPT", "KILL"), b"OK")
            self.assertIn("killed by user with SCRIPT KILL", runs.read())
            for each in runs, asks, late:
                each.close()

    def test_busy_loading(self):
        """It may be over before it can be killed."""
        with Server(PROGRAM) as server:
            runs, asks = server.connect(), server.connect()
            asks.ask("CONFIG", "SET", "busy-reply-threshold", 20)
            for _ in range(20):
                runs.send("FUNCTION", "LOAD", "#!lua name=l\nwhile true do end")
                time.sleep(0.1)
                if asks.ask("FUNCTION", "KILL") == b"OK":
                    break
                self.assertIn("timeout", runs.read())
            self.assertIn("killed by user with FUNCTION KILL", runs.read())
            self.assertEqual(asks.ask("FUNCTION", "LOAD", library("l", "f")),
                             b"l")
            self.assertEqual(runs.ask("FCALL", "f", 0), b"l")
            runs.close()
            asks.close()

    def test_rights(self):
        """A function's commands are checked as a script's are."""
        with Server(PROGRAM) as server:
            link, weak = server.connect(), server.connect()
            link.ask("ACL", "SETUSER", "weak", "on", ">w", "~k*", "+fcall",
                     "+get")
            link.ask("FUNCTION", "LOAD",
                     "#!lua name=l\nredis.register_function('f', "
                     "function(keys, args) return redis.call(args[1], args[2])"
                     " end)")
            link.ask("SET", "k", "v")
            weak.ask("AUTH", "weak", "w")
            self.assertEqual(weak.ask("FCALL", "f", 1, "k", "get", "k"), b"v")
            self.assertIn("can't run this command",
                          weak.ask("FCALL", "f", 0, "del", "k"))
            self.assertIn("NOPERM", weak.ask("FCALL", "f", 1, "x", "get", "k"))
            self.assertIn("NOPERM", weak.ask("FUNCTION", "LIST"))
            self.assertIn("NOPERM", weak.ask("FCALL_RO", "f", 0))
            link.close()
            weak.close()

    def test_pause(self):
        with Server(PROGRAM) as server:
            link, other = server.connect(), server.connect()
            link.ask("FUNCTION", "LOAD", library("l", "f"))
            dump = link.ask("FUNCTION", "DUMP")
            for words, waits in (
                    (("LOAD", library("m", "g")), True), (("DELETE", "m"), True),
                    (("FLUSH",), True), (("RESTORE", dump), True),
                    (("LIST",), False), (("DUMP",), False),
                    (("STATS",), False)):
                link.ask("CLIENT", "PAUSE", 60000, "WRITE")
                other.send("FUNCTION", *words)
                answered = select.select([other.socket], [], [],
                                         0.1 if waits else 60)[0]
                self.assertEqual(answered == [], waits, words)
                link.ask("CLIENT", "UNPAUSE")
                self.assertNotIsInstance(other.read(), Error, words)
            link.close()
            other.close()

    def test_info(self):
        with Server(PROGRAM) as server:
            link = server.connect()
            link.ask("FUNCTION", "LOAD", library("l", "f", "g"))
            link.ask("FUNCTION", "LOAD", library("m", "h"))
            text = link.ask("INFO", "memory")
            self.assertIn(b"number_of_functions:3\r\n", text)
            self.assertIn(b"number_of_libraries:2\r\n", text)
            link.close()

    def test_read_only(self):
        with Server(PROGRAM) as server, \
                Server(PROGRAM, "--readonly", store=server.store) as other:
            link, reads = server.connect(), other.connect()
            link.ask("FUNCTION", "LOAD", library("l", "f"))
            for words in (("LOAD", library("m", "g")), ("FLUSH",),
                          ("DELETE", "l"), ("RESTORE", "x")):
                self.assertIn("READONLY", reads.ask("FUNCTION", *words))
            self.assertEqual(reads.ask("FCALL", "f", 0), b"l")
            self.assertEqual(reads.ask("FUNCTION", "LIST")[0][1], b"l")
            link.close()
            reads.close()


if __name__ == "__main__":
    unittest.main()
