# SPDX-License-Identifier: Apache-2.0
"""limits_test.py PROGRAM - hostile and silent clients, memory, --readonly.

HOLDFAST_TEST_LONG=1: with 1 GiB of input, and 10 000 connections.
"""

import os
import resource
import select
import signal
import socket
import sys
import time
import unittest

from server import Server, TIMEOUT, encode, slower

PROGRAM = sys.argv.pop()
SLOWER = slower(PROGRAM)
LONG = bool(os.environ.get("HOLDFAST_TEST_LONG"))
MIB = 1024 * 1024


def memory(server):
    """Resident memory, KiB; under a sanitizer a part of it."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) // SLOWER
    raise ValueError


class Hostile(unittest.TestCase):
    limit = 64

    def setUp(self):
        self.server = Server(PROGRAM, "--max-buffers", self.limit, log=True)
        self.addCleanup(self.server.close)
        self.other = self.server.connect()
        self.addCleanup(self.other.close)
        self.before = memory(self.server)

    def connect(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link

    def assert_bounded(self):
        self.assertEqual(self.other.ask("PING"), b"PONG")
        used = memory(self.server) - self.before
        self.assertLess(used, (2 * self.limit + 32) * 1024)

    def pour(self, link, chunk, count):
        """Send until the server closes the connection, or all is sent."""
        sent = 0
        try:
            for _ in range(count):
                link.socket.sendall(chunk)
                sent += len(chunk)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return sent

    def test_an_announced_word_takes_no_memory(self):
        links = [self.connect() for _ in range(50)]
        for link in links:
            link.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$536870912\r\n")
        self.assert_bounded()
        self.assertLess(memory(self.server) - self.before, 8 * 1024)

    def test_one_that_sends_too_much_is_closed(self):
        link = self.connect()
        link.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$536870912\r\n")
        size = self.pour(link, b"x" * MIB, 1024 if LONG else 200)
        self.assertLess(size, 2 * self.limit * MIB)
        self.assertIn("buffers have", self.server.process.stderr.readline())
        self.assert_bounded()

    def test_a_request_of_many_words(self):
        link = self.connect()
        count = 1024 * 1024
        link.socket.sendall(b"*%d\r\n" % count + b"$4\r\nMGET\r\n" +
                            b"$1\r\na\r\n" * (count - 1))
        self.assertEqual(link.read(), [None] * (count - 1))
        self.assert_bounded()

    def test_a_reader_that_is_slow(self):
        self.other.ask("SET", "a", b"x" * MIB)
        links = [self.connect() for _ in range(20)]
        for link in links:
            self.pour(link, encode("GET", "a") * 100, 1)
            self.assert_bounded()
        closed = self.server.process.stderr.readline()
        self.assertIn(", which had ", closed)

    def test_memory_of_slow_readers_is_given_back(self):
        limit = time.monotonic() + TIMEOUT
        with Server(PROGRAM, "--max-buffers", 512) as server:
            other = server.connect()
            self.addCleanup(other.close)
            other.ask("SET", "v", "x" * 100_000)
            before = memory(server)
            for _ in range(3):
                links = [server.connect() for _ in range(100)]
                for link in links:
                    link.socket.sendall(encode("GET", "v") * 10)
                while memory(server) - before < 80 * 1024 // SLOWER:
                    self.assertLess(time.monotonic(), limit)
                    time.sleep(0.02)
                last = server.connect()
                last.ask("GET", "v")
                self.addCleanup(last.close)
                for link in links:
                    link.close()
            while memory(server) - before > 16 * 1024:
                self.assertLess(time.monotonic(), limit,
                                f"{memory(server) - before} KiB more")
                time.sleep(0.1)

    def test_garbage(self):
        for text in (b"*1\r\n" * 100000, b"\x16\x03\x01" * 100000,
                     b"\r\n" * 1000000, os.urandom(MIB),
                     b"*0\r\n*-1\r\n" * 100000, b"*1\r\n*1\r\n" * 1000000,
                     b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 1000):
            link = self.server.connect()
            link.socket.setblocking(False)
            view = memoryview(text)
            try:
                while view:
                    ready = select.select([link.socket], [link.socket], [],
                                          TIMEOUT)
                    if ready[0] and not link.socket.recv(65536):
                        break
                    if ready[1]:
                        view = view[link.socket.send(view):]
            except (BrokenPipeError, ConnectionResetError,
                    BlockingIOError):
                pass
            link.close()
        self.assert_bounded()

    def test_a_transaction_that_grows(self):
        link = self.connect()
        link.ask("MULTI")
        link.socket.settimeout(TIMEOUT)
        for _ in range(self.limit * 2):
            try:
                self.assertEqual(link.ask("SET", "a", b"x" * MIB), b"QUEUED")
            except (EOFError, OSError):
                break
        else:
            self.fail("not closed")
        self.assert_bounded()

    def test_scripts_that_nest_deeply(self):
        link = self.connect()
        reply = link.ask("EVAL", "local t = {} for i = 1, 100000 do t = {t} "
                         "end return t", 0)
        self.assertTrue(reply)
        self.assert_bounded()


class Time(unittest.TestCase):
    def test_idle_connections_are_closed(self):
        with Server(PROGRAM, "--timeout", 1) as server:
            idle, waiting, busy = (server.connect() for _ in range(3))
            waiting.send("BLPOP", "list", 0)
            until = time.monotonic() + TIMEOUT
            while not select.select([idle.socket], [], [], 0.2)[0]:
                self.assertLess(time.monotonic(), until)
                busy.ask("PING")
            with self.assertRaises(EOFError):
                idle.read()
            self.assertEqual(busy.ask("RPUSH", "list", "a"), 1)
            self.assertEqual(waiting.read(), [b"list", b"a"])
            for link in (idle, waiting, busy):
                link.close()

    def test_a_request_must_become_complete(self):
        with Server(PROGRAM, "--request-timeout", 1) as server:
            slow, quiet, held = [server.connect() for _ in range(3)]
            quiet.ask("CLIENT", "PAUSE", 10 ** 9, "WRITE")
            held.send("SET", "a", 1)
            slow.socket.sendall(b"*2\r\n$3\r\nGET\r\n")
            with self.assertRaises(EOFError):
                slow.read()
            self.assertEqual(quiet.ask("CLIENT", "UNPAUSE"), b"OK")
            self.assertEqual(held.read(), b"OK")
            for link in (slow, quiet, held):
                link.close()


class Many(unittest.TestCase):
    def is_served(self, link):
        """The server closes one that is too many, perhaps before it sends."""
        try:
            return link.ask("PING") == b"PONG"
        except (BrokenPipeError, ConnectionResetError, EOFError):
            return False

    def test_too_many_connections(self):
        with Server(PROGRAM, "--max-clients", 2) as server:
            links = [server.connect() for _ in range(3)]
            self.assertEqual(links[2].read(),
                             "ERR max number of clients reached")
            self.assertEqual(links[0].ask("PING"), b"PONG")
            links[1].close()
            links[1] = server.connect()
            while not self.is_served(links[1]):
                links[1].close()
                links[1] = server.connect()
            for link in links:
                link.close()

    def test_without_descriptors_it_waits(self):
        with Server(PROGRAM, log=True) as server:
            first = server.connect()
            self.assertEqual(first.ask("PING"), b"PONG")
            used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE,
                             (used + 1, used + 1))
            links = [server.connect() for _ in range(3)]
            self.assertIn("Too many open files",
                          server.process.stderr.readline())
            before = os.times()
            stat = f"/proc/{server.process.pid}/stat"
            with open(stat, encoding="ascii") as file:
                spent = sum(map(int, file.read().split()[13:15]))
            time.sleep(0.3)
            with open(stat, encoding="ascii") as file:
                spent = sum(map(int, file.read().split()[13:15])) - spent
            self.assertLess(spent, 15 * SLOWER, before)
            self.assertEqual(first.ask("PING"), b"PONG")
            links[0].close()
            first.close()
            for link in links[1:]:
                link.close()

    def test_idle_connections_take_little(self):
        count = 10000 if LONG else 300
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE,
                        (soft, hard))
        with Server(PROGRAM, "--max-clients", count) as server:
            before = memory(server)
            links = []
            for _ in range(count):
                links.append(server.connect())
                self.assertEqual(links[-1].ask("PING"), b"PONG")
            until = time.monotonic() + TIMEOUT
            each = 10000
            while each > 8 and time.monotonic() < until:
                time.sleep(0.1)
                each = (memory(server) - before) / count
            if LONG:
                print(f"{count} idle connections: {each:.2f} KiB each")
            self.assertLessEqual(each, 8)
            for link in links:
                link.close()


class ReadOnly(unittest.TestCase):
    error = "READONLY You can't write against a read only replica."

    def test_what_writes_is_refused(self):
        with Server(PROGRAM, "--readonly") as server:
            link = server.connect()
            for words in (("SET", "a", 1), ("DEL", "a"), ("FLUSHALL",),
                          ("SORT", "a"), ("BLPOP", "a", 0),
                          ("EVAL", "return redis.call('set', 'a', 1)", 0)):
                self.assertTrue(link.ask(*words).startswith(self.error), words)
            self.assertEqual(link.ask("GET", "a"), None)
            self.assertEqual(link.ask("EVAL", "return redis.call('get','a')",
                                      0), None)
            self.assertEqual(link.ask("MULTI"), b"OK")
            self.assertEqual(link.ask("SET", "a", 1), self.error)
            self.assertTrue(link.ask("EXEC").startswith("EXECABORT"))
            link.close()


class Stop(unittest.TestCase):
    def test_a_second_signal_ends_it_at_once(self):
        server = Server(PROGRAM)
        self.addCleanup(server.close)
        link = server.connect()
        self.addCleanup(link.close)
        link.ask("SET", "a", b"x" * MIB)
        link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.socket.sendall(encode("GET", "a") * 8)
        link.socket.recv(1)
        began = time.monotonic()
        server.process.terminate()
        while os.path.exists(server.path):
            time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(TIMEOUT), -signal.SIGTERM)
        self.assertLess(time.monotonic() - began, 4 * SLOWER)


if __name__ == "__main__":
    unittest.main()
