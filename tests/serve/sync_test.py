# SPDX-License-Identifier: Apache-2.0
"""sync_test.py PROGRAM - SYNC: a copy of the store, as `redis-cli --rdb` takes
it, and what a redis-server makes of it."""

import contextlib
import ctypes
import ctypes.util
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

from server import TIMEOUT, Connection, Error, Server, encode, slower

PROGRAM = sys.argv.pop()
LIBRARY = "#!lua name=l\nredis.register_function('f', function() return 7 end)"

# How to read a value of a type; what has no order is sorted.
READS = {b"string": (["GET"], [], False),
         b"list": (["LRANGE"], [0, -1], False),
         b"set": (["SMEMBERS"], [], True), b"hash": (["HGETALL"], [], True),
         b"zset": (["ZRANGE"], [0, -1, "WITHSCORES"], False),
         b"stream": (["XINFO", "STREAM"], ["FULL", "COUNT", 0], False)}


def values(db):
    """Small and large ones of each type."""
    yield "SELECT", db
    for count in (1, 3000):
        rows = range(count)
        yield "SET", f"s{count}", f"{db}" * count
        yield "RPUSH", f"l{count}", *rows
        yield "SADD", f"m{count}", *rows
        yield "SADD", f"w{count}", *(f"w{i}" for i in rows)
        yield "HSET", f"h{count}", *(x for i in rows for x in (i, f"v{i}"))
        yield "ZADD", f"z{count}", *(x for i in rows for x in (i / 3, f"n{i}"))
        for i in rows[:700]:
            yield ("XADD", f"x{count}", f"{i + 1}-{i}", "a", i, f"b{i % 2}",
                   "")


OTHERS = [
    ("SELECT", 0), ("XGROUP", "CREATE", "x3000", "g", 0),
    ("XREADGROUP", "GROUP", "g", "c", "COUNT", 9, "STREAMS", "x3000", ">"),
    ("XACK", "x3000", "g", "1-0"), ("XDEL", "x3000", "2-1"),
    ("SETBIT", "bits", 1 << 21, 1), ("SET", b"\x00\xff", b"\x00\r\n"),
    ("SET", "k" * 2000, "long"), ("SET", "", "empty"),
    ("SET", "passing", 1, "PX", 1), ("SET", "later", 1, "EX", 5000),
    ("PEXPIREAT", "l3000", 4000000000000), ("FUNCTION", "LOAD", LIBRARY)]


def fill(link):
    for words in (*map(values, range(16)), OTHERS):
        words = list(words)
        link.socket.sendall(b"".join(encode(*some) for some in words))
        for some in words:
            reply = link.read()
            assert not isinstance(reply, Error), (some, reply)


def contents(link):
    """What there is in all databases; not how it is stored."""
    found = {}
    for db in range(16):
        link.ask("SELECT", db)
        for key in link.ask("KEYS", "*"):
            kind = link.ask("TYPE", key)
            head, tail, unordered = READS[kind]
            value = link.ask(*head, key, *tail)
            if kind == b"hash":
                value = list(zip(value[::2], value[1::2]))
            if kind == b"stream":
                value = [item for item in value if not isinstance(item, int)]
                value = [item for item in value if item not in
                         (b"radix-tree-keys", b"radix-tree-nodes")]
            found[db, key] = (kind, sorted(value) if unordered else value,
                              link.ask("PEXPIRETIME", key))
    return found


class Sync(unittest.TestCase):
    def serve(self, *options, **more):
        server = Server(PROGRAM, *options, **more)
        self.addCleanup(server.__exit__)
        return server

    def link(self, server):
        link = server.connect()
        self.addCleanup(link.close)
        return link

    def folder(self):
        folder = tempfile.mkdtemp(prefix="holdfast-sync-")
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def copy(self, server):
        """The name of a file that redis-check-rdb accepts."""
        path = os.path.join(self.folder(), "dump.rdb")
        ran = subprocess.run(["redis-cli", "-s", server.path, "--rdb", path],
                             capture_output=True, text=True, timeout=TIMEOUT)
        self.assertIn("with success", ran.stderr)
        self.assertNotIn("error", ran.stderr)
        ran = subprocess.run(["redis-check-rdb", path], capture_output=True,
                             text=True, timeout=TIMEOUT)
        self.assertIn("RDB looks OK", ran.stdout)
        return path

    def load(self, path):
        """A connection to a redis-server that has the file."""
        folder = os.path.dirname(path)
        name = os.path.join(folder, "socket")
        process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", name, "--dir",
             folder, "--save", ""], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        for line in process.stdout:
            if b"The server is now ready" in line or b"Ready to" in line:
                break
        link = Connection(name)
        self.addCleanup(link.close)
        return link

    def sync(self, server, *words):
        """A raw connection that has sent SYNC, and the size announced."""
        link = self.link(server)
        link.send(*(words or ["SYNC"]))
        line = link.lines.readline()
        self.assertTrue(line.startswith(b"$"), line)
        return link, int(line[1:])

    def test_a_redis_server_loads_the_same(self):
        for scheme in "volatile", "file":
            server = self.serve(scheme=scheme)
            link = self.link(server)
            fill(link)
            time.sleep(0.01)
            loaded = self.load(self.copy(server))
            ours = contents(link)
            self.assertEqual(len(ours), 16 * 14 + 5)
            self.assertEqual(contents(loaded), ours)
            loaded.ask("SELECT", 0)
            self.assertEqual(loaded.ask("FCALL", "f", 0), 7)
            link.ask("SELECT", 0)
            pending = ["XPENDING", "x3000", "g"]
            self.assertEqual(loaded.ask(*pending), link.ask(*pending))

    def test_deadlines_of_fields_are_there(self):
        server = self.serve()
        link = self.link(server)
        link.ask("HSET", "h", "a", 1, "b", 2)
        link.ask("HPEXPIREAT", "h", 4000000000000, "FIELDS", 1, "b")
        dump = link.ask("DUMP", "h")
        link, size = self.sync(server)
        data = link.lines.read(size)
        self.assertIn(dump[:1] + b"\x01h" + dump[1:-10], data)
        self.assertEqual(dump[0], 24)

    def test_an_empty_store(self):
        loaded = self.load(self.copy(self.serve()))
        self.assertEqual(loaded.ask("DBSIZE"), 0)

    def test_a_large_value(self):
        server = self.serve()
        link = self.link(server)
        value = os.urandom(1 << 20) * (100 if slower(PROGRAM) == 1 else 5)
        link.ask("SET", "big", value)
        self.assertEqual(self.load(self.copy(server)).ask("GET", "big"), value)

    def fill_much(self, server, keys=100000):
        link = self.link(server)
        keys //= slower(PROGRAM)
        for at in range(0, keys, 1000):
            link.ask("MSET", *(word for i in range(at, at + 1000)
                               for word in (f"key{i}", "x" * 100)))
        return link

    def test_others_are_answered_while_a_client_does_not_read(self):
        server = self.serve()
        link = self.fill_much(server)
        slow, size = self.sync(server)
        self.assertGreater(size, 300000)
        for i in range(1000):
            self.assertEqual(link.ask("SET", "a", i), b"OK")
        self.assertNotRegex(link.ask("CLIENT", "LIST").decode(),
                            r"omem=\d{7}")
        self.assertIn("another client", self.link(server).ask("SYNC"))
        data = slow.lines.read(size)
        self.assertEqual(len(data), size)
        self.assertEqual(slow.lines.read(), b"")
        self.assertNotIn(b"\x01a\xc1", data)
        self.sync(server)

    def test_a_client_that_takes_nothing_is_closed(self):
        server = self.serve("--request-timeout", "1s")
        self.fill_much(server)
        slow, size = self.sync(server)
        time.sleep(1.5 * slower(PROGRAM))
        self.assertLess(len(slow.lines.read()), size)
        self.sync(server)

    def test_a_client_that_takes_nothing_of_the_last_piece_is_closed(self):
        server = self.serve("--request-timeout", "1s")
        self.link(server).ask("MSET", *(word for i in range(2)
                                        for word in (i, "v" * 120000)))
        slow, size = self.sync(server)
        time.sleep(1.5 * slower(PROGRAM))
        self.assertLess(len(slow.lines.read()), size)
        self.sync(server)

    def test_a_client_that_is_gone_leaves_nothing(self):
        server = self.serve()
        link = self.fill_much(server)
        for wait in 0, 0.02, 0.3:
            gone = server.connect()
            gone.send("SYNC")
            time.sleep(wait)
            if wait == 0.3:
                gone.lines.read(1000)
            gone.close()
            self.until(lambda: not self.files(server))
        self.assertEqual(link.ask("PING"), b"PONG")
        self.sync(server)
        self.assertEqual(len(self.files(server)), 1)

    def files(self, server):
        folder = f"/proc/{server.process.pid}/fd"
        found = []
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                if "holdfast-rdb" in os.readlink(os.path.join(folder, name)):
                    found.append(name)
        return found

    def until(self, fits):
        end = time.monotonic() + TIMEOUT
        while not fits():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    def test_it_is_of_one_instant(self):
        """While others write, which extends the file of the store."""
        server = self.serve()
        self.fill_much(server, 60000)
        writer = self.link(server)
        ended = threading.Event()

        def write():
            i = 0
            while not ended.is_set():
                i += 1
                writer.ask("MSET", "aaa", i, "zzz", i, f"key{i % 60000}", i,
                           f"more{i % 5000}", "x" * 20000)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            paths = [self.copy(server) for _ in range(4)]
        finally:
            ended.set()
            thread.join()
        for path in paths:
            first, last = self.load(path).ask("MGET", "aaa", "zzz")
            self.assertEqual(first, last)

    def expect_full(self, server, link, value):
        """A copy ends when a value that fits takes the place of another."""
        for _ in range(20):
            copier = self.link(server)
            copier.send("SYNC")
            while not select.select([copier.socket], [], [], 0)[0]:
                self.assertEqual(link.ask("SET", "a", value), b"OK")
            line = copier.lines.readline()
            copier.close()
            if line.startswith(b"-"):
                break
        self.assertEqual(line,
                         b"-ERR the store has become too full meanwhile\r\n")
        self.assertEqual(link.ask("SET", "a", value), b"OK")

    def test_a_store_that_becomes_full_ends_it(self):
        server = self.serve(url="?max_size=64M")
        link = self.fill_much(server, 200000 * slower(PROGRAM))
        self.expect_full(server, link, b"x" * 500000)

    def test_a_store_that_becomes_full_ends_it_within_a_value(self):
        for more in "", "&durability=log":
            server = self.serve(scheme="file", url="?max_size=200M" + more)
            link = self.link(server)
            link.ask("SET", "big", os.urandom(1 << 20) * 150)
            for i in range(1000):
                if isinstance(link.ask("SET", f"more{i}", b"x" * 500000),
                              Error):
                    break
            for at in range(i - 5, i):
                link.ask("DEL", f"more{at}")
            self.expect_full(server, link, b"x" * 400000)

    def take_reader_slots(self, folder):
        """All of them, as other processes would; call the result to end."""
        lmdb = ctypes.CDLL(ctypes.util.find_library("lmdb"))
        env, txn = ctypes.c_void_p(), ctypes.c_void_p()
        read_only, no_tls = 0x20000, 0x200000
        lmdb.mdb_env_create(ctypes.byref(env))
        lmdb.mdb_env_set_maxreaders(env, 4096)
        self.assertEqual(lmdb.mdb_env_open(
            env, folder.encode(), read_only | no_tls, 0o600), 0)
        while not lmdb.mdb_txn_begin(env, None, read_only, ctypes.byref(txn)):
            lmdb.mdb_txn_reset(txn)
        return lambda: lmdb.mdb_env_close(env)

    def test_without_a_reader_slot(self):
        server = self.serve(scheme="file")
        link = self.link(server)
        link.ask("SET", "a", 1)
        give_back = self.take_reader_slots(server.folder + "/store")
        try:
            self.assertEqual(self.link(server).ask("SYNC"),
                             "ERR no free reader slot")
            self.assertEqual(link.ask("GET", "a"), b"1")
        finally:
            give_back()

    def test_refused(self):
        server = self.serve()
        link = self.link(server)
        self.assertIn("not allowed from script",
                      link.ask("EVAL", "redis.call('SYNC')", 0))
        link.ask("MULTI")
        self.assertIn("not allowed inside a transaction", link.ask("SYNC"))
        link.ask("DISCARD")
        self.assertEqual(link.ask("REPLCONF", "a"), "ERR syntax error")
        self.assertIn("all keys",
                      link.ask("REPLCONF", "rdb-filter-only", "functions"))
        link.ask("REPLCONF", "capa", "eof", "capa", "psync2")
        for words in ["SYNC"], ["PSYNC", "?", -1]:
            self.assertIn("no replicas", link.ask(*words))
        self.assertEqual(link.ask("PING"), b"PONG")

    def test_what_is_said_unasked_is_not_in_it(self):
        server = self.serve()
        for words in (["SUBSCRIBE", "c"], ["MONITOR"],
                      ["CLIENT", "TRACKING", "ON", "BCAST"]):
            link = self.link(server)
            link.ask("HELLO", 3)
            link.ask(*words)
            self.assertIn("no copy for a client with", link.ask("SYNC"))
            self.assertEqual(link.ask("RESET"), b"RESET")
            link.send("SYNC")
            self.assertRegex(link.lines.readline(), rb"\$\d+\r\n")
            link.lines.read()
        writer = self.fill_much(server)
        target = self.link(server)
        target.ask("HELLO", 3)
        name = target.ask("CLIENT", "ID")
        target.send("SYNC")
        writer.ask("CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", name)
        writer.ask("SET", "a", 1)
        size = int(target.lines.readline()[1:])
        writer.ask("SET", "a", 2)
        self.assertNotIn(b"invalidate", target.lines.read(size))
        self.assertEqual(target.lines.read(), b"")

    def test_it_needs_the_right(self):
        path = os.path.join(self.folder(), "users")
        with open(path, "w", encoding="utf-8") as file:
            file.write("user default on nopass ~* &* +@all -@admin\n")
        os.chmod(path, 0o600)
        link = self.link(self.serve("--users", path))
        for words in ["SYNC"], ["PSYNC", "?", -1], ["REPLCONF", "capa", "eof"]:
            self.assertIn("NOPERM", link.ask(*words))

    def test_psync_is_all_of_it(self):
        server = self.serve("--readonly")
        link = self.link(server)
        link.send("PSYNC", "?", -1)
        self.assertRegex(link.lines.readline(), rb"\+FULLRESYNC \w{40} 0\r\n")
        size = int(link.lines.readline()[1:])
        self.assertEqual(len(link.lines.read()), size)

    def test_a_server_that_ends_does_not_wait(self):
        server = self.serve()
        self.fill_much(server)
        link = self.link(server)
        link.send("SYNC")
        time.sleep(0.01)
        self.assertEqual(server.close(), 0)

    def test_without_a_place_for_the_file(self):
        with unittest.mock.patch.dict(os.environ, TMPDIR="/nowhere"):
            server = self.serve(store=f"volatile:{self.folder()}/store")
        self.assertIn("TMPDIR", self.link(server).ask("SYNC"))


if __name__ == "__main__":
    unittest.main()
