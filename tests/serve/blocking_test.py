# SPDX-License-Identifier: Apache-2.0
"""blocking_test.py PROGRAM - commands that wait for an element."""

import signal
import subprocess
import sys
import time
import unittest

from server import Error, Server, encode

PROGRAM = sys.argv.pop()

FULL = "OOM command not allowed when used memory > 'maxmemory'."


class Waiters(unittest.TestCase):
    url = "?script_budget_ms=50"

    def setUp(self):
        self.server = Server(PROGRAM, url=self.url)
        self.addCleanup(self.server.close)
        self.link = self.connect()
        self.waiting = 0

    def connect(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link

    def wait_until_blocked(self, count):
        while sum(b"flags=bU" in line for line in self.link.ask(
                "CLIENT", "LIST").split(b"\n")) != count:
            time.sleep(0.002)

    def block(self, *words, link=None):
        """A connection that waits, after those before it."""
        link = link or self.connect()
        link.send(*words)
        self.waiting += 1
        self.wait_until_blocked(self.waiting)
        return link

    def write_elsewhere(self, *words):
        subprocess.run([PROGRAM, "--store", self.server.store, "command",
                        *words], check=True, stdout=subprocess.DEVNULL)


class Blocking(Waiters):
    # -------------------------------------------------------------- replies

    def test_what_is_there_is_taken_at_once(self):
        ask = self.link.ask
        ask("RPUSH", "l", *"abcdefg")
        ask("ZADD", "z", *"1a2b3c4d5e")
        self.assertEqual(ask("BLPOP", "none", "l", 0), [b"l", b"a"])
        self.assertEqual(ask("BRPOP", "l", 0), [b"l", b"g"])
        self.assertEqual(ask("BLMOVE", "l", "m", "LEFT", "RIGHT", 0), b"b")
        self.assertEqual(ask("BRPOPLPUSH", "l", "m", 0), b"f")
        self.assertEqual(ask("LRANGE", "m", 0, -1), [b"f", b"b"])
        self.assertEqual(
            ask("BLMPOP", 0, 2, "none", "l", "RIGHT", "COUNT", 2),
            [b"l", [b"e", b"d"]])
        self.assertEqual(ask("BZPOPMIN", "none", "z", 0), [b"z", b"a", b"1"])
        self.assertEqual(ask("BZPOPMAX", "z", 0), [b"z", b"e", b"5"])
        self.assertEqual(ask("BZMPOP", 0, 1, "z", "MIN", "COUNT", 9),
                         [b"z", [[b"b", b"2"], [b"c", b"3"], [b"d", b"4"]]])

    def test_arguments_are_checked(self):
        ask = self.link.ask
        ask("SET", "s", "x")
        for limit, text in (("x", "timeout is not a float or out of range"),
                            ("", "timeout is not a float or out of range"),
                            ("-1", "timeout is negative"),
                            ("1e400", "timeout is negative")):
            self.assertEqual(ask("BLPOP", "l", limit), "ERR " + text)
        self.assertEqual(ask("BLMPOP", 0, 1, "l", "UP"), "ERR syntax error")
        self.assertEqual(ask("BZMPOP", 0, 0, "l", "MIN"),
                         "ERR numkeys should be greater than 0")
        for words in (("BLPOP", "none", "s", 0), ("BZPOPMAX", "s", 0),
                      ("BLMOVE", "s", "m", "LEFT", "LEFT", 0)):
            self.assertTrue(ask(*words).startswith("WRONGTYPE "), words)

    def test_each_command_waits(self):
        for words, push, reply in (
                (("BLPOP", "a", "b", 0), ("RPUSH", "b", 1, 2), [b"b", b"1"]),
                (("BRPOP", "a", "b", 0), ("RPUSH", "b", 1, 2), [b"b", b"2"]),
                (("BLMOVE", "b", "c", "RIGHT", "LEFT", 0),
                 ("RPUSH", "b", 1, 2), b"2"),
                (("BRPOPLPUSH", "b", "c", 0), ("RPUSH", "b", 1, 2), b"2"),
                (("BLMPOP", 0, 2, "a", "b", "LEFT", "COUNT", 5),
                 ("RPUSH", "b", 1, 2), [b"b", [b"1", b"2"]]),
                (("BZPOPMIN", "a", "b", 0), ("ZADD", "b", 1, "x", 2, "y"),
                 [b"b", b"x", b"1"]),
                (("BZPOPMAX", "a", "b", 0), ("ZADD", "b", 1, "x", 2, "y"),
                 [b"b", b"y", b"2"]),
                (("BZMPOP", 0, 2, "a", "b", "MAX", "COUNT", 5),
                 ("ZADD", "b", 1, "x", 2, "y"),
                 [b"b", [[b"y", b"2"], [b"x", b"1"]]])):
            self.link.ask("FLUSHALL")
            link = self.block(*words)
            self.assertEqual(self.link.ask(*push), 2)
            self.assertEqual(link.read(), reply)
            self.waiting -= 1

    def test_a_limit_ends_the_wait(self):
        began = time.monotonic()
        for words in (("BLPOP", "a", "b", "0.05"),
                      ("BLMOVE", "a", "b", "LEFT", "LEFT", "0.05"),
                      ("BZMPOP", "0.05", 1, "a", "MIN")):
            self.assertEqual(self.link.ask(*words), None)
        self.assertGreaterEqual(time.monotonic() - began, 0.15)
        self.assertEqual(self.link.ask("RPUSH", "a", "x"), 1)
        self.assertEqual(self.link.ask("LLEN", "a"), 1)

    def test_one_limit_leaves_the_others(self):
        links = [self.block("BLPOP", "l", limit) for limit in (0, "0.1", 0)]
        self.assertEqual(links[1].read(), None)
        self.link.ask("RPUSH", "l", 1, 2)
        self.assertEqual(links[0].read(), [b"l", b"1"])
        self.assertEqual(links[2].read(), [b"l", b"2"])

    def test_within_exec_and_scripts_nothing_waits(self):
        self.link.socket.sendall(
            encode("MULTI") + encode("BLPOP", "l", 0) +
            encode("BLMOVE", "l", "m", "LEFT", "LEFT", 0) +
            encode("BZMPOP", 0, 1, "z", "MIN") + encode("EXEC"))
        self.assertEqual([self.link.read() for _ in range(5)][4], [None] * 3)
        self.assertEqual(self.link.ask(
            "EVAL", "return redis.call('blmpop', 0, 1, 'l', 'left')", 0), None)
        self.assertIn("not allowed from script", self.link.ask(
            "EVAL", "return redis.call('blpop', 'l', 0)", 0))

    # ---------------------------------------------------------------- order

    def test_waiters_are_served_in_their_order(self):
        links = [self.block("BLPOP", "l", 0) for _ in range(3)]
        self.assertEqual(self.link.ask("RPUSH", "l", 1, 2), 2)
        self.assertEqual(self.link.ask("EXISTS", "l"), 0)
        self.assertEqual([link.read()[1] for link in links[:2]], [b"1", b"2"])
        self.assertEqual(self.link.ask("RPUSH", "l", 3, 4), 2)
        self.assertEqual(links[2].read()[1], b"3")
        self.assertEqual(self.link.ask("LRANGE", "l", 0, -1), [b"4"])

    def test_the_unit_ends_before_waiters_are_served(self):
        link = self.block("BLPOP", "a", "b", 0)
        self.assertEqual(self.link.ask(
            "EVAL", "redis.call('rpush', 'b', 1) redis.call('rpush', 'a', 2) "
            "return redis.call('llen', 'b')", 0), 1)
        self.assertEqual(link.read(), [b"b", b"1"])
        self.waiting = 0
        link = self.block("BLPOP", "c", 0)
        self.link.socket.sendall(
            encode("MULTI") + encode("RPUSH", "c", "x") + encode("DEL", "c") +
            encode("RPUSH", "c", "y") + encode("LLEN", "c") + encode("EXEC") +
            encode("EXISTS", "c"))
        self.assertEqual([self.link.read() for _ in range(7)][5:],
                         [[1, 1, 1, 1], 0])
        self.assertEqual(link.read(), [b"c", b"y"])

    def test_one_waiter_feeds_another(self):
        last = self.block("BLPOP", "c", 0)
        middle = self.block("BLMOVE", "b", "c", "LEFT", "LEFT", 0)
        first = self.block("BLMOVE", "a", "b", "LEFT", "LEFT", 0)
        self.assertEqual(self.link.ask("RPUSH", "a", "x"), 1)
        self.assertEqual(self.link.ask("EXISTS", "a", "b", "c"), 0)
        self.assertEqual([first.read(), middle.read(), last.read()],
                         [b"x", b"x", [b"c", b"x"]])

    def test_other_types_leave_it_waiting(self):
        link = self.block("BLPOP", "l", 0)
        for words in (("SET", "l", "x"), ("SADD", "l", "x"),
                      ("ZADD", "l", 1, "x")):
            self.link.ask(*words)
            self.link.ask("DEL", "l")
        wrong = self.block("BLMOVE", "l", "s", "LEFT", "LEFT", 0)
        self.link.ask("SET", "s", "x")
        self.link.ask("RPUSH", "l", 1, 2)
        self.assertEqual(link.read(), [b"l", b"1"])
        self.assertTrue(wrong.read().startswith("WRONGTYPE "))
        self.assertEqual(self.link.ask("LRANGE", "l", 0, -1), [b"2"])

    def test_later_requests_wait_too(self):
        link = self.block("BLPOP", "l", 0)
        link.socket.sendall(encode("INCR", "n") + encode("GET", "n") +
                            encode("BLPOP", "l", 0) + encode("INCR", "n"))
        self.link.ask("PING")
        self.assertEqual(self.link.ask("EXISTS", "n"), 0)
        self.link.ask("RPUSH", "l", "x")
        self.assertEqual([link.read() for _ in range(3)],
                         [[b"l", b"x"], 1, b"1"])
        self.link.ask("RPUSH", "l", "y")
        self.assertEqual([link.read() for _ in range(2)], [[b"l", b"y"], 2])

    # ------------------------------------------------------------------ end

    def test_a_lost_connection_takes_nothing(self):
        links = [self.block("BLPOP", "l", 0) for _ in range(3)]
        links[0].close()
        self.wait_until_blocked(2)
        self.link.ask("RPUSH", "l", 1, 2)
        self.assertEqual([link.read()[1] for link in links[1:]], [b"1", b"2"])

    def test_client_unblock(self):
        for how, reply in (
                ((), None), (("TIMEOUT",), None),
                (("ERROR",),
                 "UNBLOCKED client unblocked via CLIENT UNBLOCK")):
            link = self.connect()
            link_id = link.ask("CLIENT", "ID")
            self.assertEqual(self.link.ask("CLIENT", "UNBLOCK", link_id), 0)
            self.block("BLPOP", "l", 0, link=link)
            self.assertEqual(
                self.link.ask("CLIENT", "UNBLOCK", link_id, *how), 1)
            self.assertEqual(link.read(), reply)
            self.waiting -= 1
        self.assertEqual(self.link.ask("CLIENT", "UNBLOCK", 1, "x"),
                         "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")

    def test_a_stop_closes_those_that_wait(self):
        link = self.block("BLPOP", "l", 0)
        self.server.process.terminate()
        with self.assertRaises(EOFError):
            link.read()
        self.assertEqual(self.server.process.wait(), 0)

    # ----------------------------------------------------------------- more

    def test_other_processes_serve_waiters(self):
        list_link = self.block("BLPOP", "none", "l", 0)
        zset_link = self.block("BZPOPMIN", "z", 0)
        self.write_elsewhere("SET", "none", "x")
        self.write_elsewhere("ZADD", "z", "1", "a", "2", "b")
        self.assertEqual(zset_link.read(), [b"z", b"a", b"1"])
        self.write_elsewhere("RPUSH", "l", "1")
        self.assertEqual(list_link.read(), [b"l", b"1"])
        self.assertEqual(self.link.ask("EXISTS", "l"), 0)

    def test_a_locked_store_serves_waiters_later(self):
        link = self.block("BLPOP", "l", 0)
        locker = Server(PROGRAM, store=self.server.store.replace("50", "60000"))
        self.addCleanup(locker.close)
        holder = locker.connect()
        self.addCleanup(holder.close)
        self.server.process.send_signal(signal.SIGSTOP)
        self.write_elsewhere("RPUSH", "l", "1")
        holder.send("EVAL", "redis.call('incr', 'n') while true do end", 0)
        time.sleep(0.5)
        self.server.process.send_signal(signal.SIGCONT)
        time.sleep(6)  # longer than the server waits for the lock
        locker.process.kill()
        self.assertEqual(link.read(), [b"l", b"1"])

    def test_a_thousand_waiters(self):
        links = []
        for _ in range(1000):
            links.append(self.connect())
            links[-1].ask("PING")
        for link in links:
            link.socket.sendall(encode("BLPOP", "l", 0) +
                                encode("ECHO", "after"))
        self.wait_until_blocked(1000)
        self.link.ask("RPUSH", "l", *range(500))
        for _ in range(5):
            self.link.ask("RPUSH", "l", *range(100))
        self.assertEqual(self.link.ask("EXISTS", "l"), 0)
        values = [int(link.read()[1]) for link in links]
        self.assertEqual(sorted(values),
                         sorted(list(range(500)) + 5 * list(range(100))))
        self.assertEqual([link.read() for link in links], [b"after"] * 1000)

    def test_an_undone_round_serves_once(self):
        link, other = self.block("BLPOP", "l", 0), self.connect()
        mover = self.block("BLMOVE", "l", "m", "LEFT", "LEFT", 0)
        new = self.connect()
        new.send("BLPOP", "m", 0)
        self.link.socket.sendall(
            encode("RPUSH", "l", 1) + encode("RPUSH", "l", 2) +
            encode("EVAL", "redis.call('rpush', 'l', 3) while true do end", 0) +
            encode("EXISTS", "l"))
        other.socket.sendall(encode("RPUSH", "l", 4))
        replies = [self.link.read() for _ in range(4)]
        self.assertEqual(other.read(), 1)
        self.assertEqual(replies[:2], [1, 1])
        self.assertIsInstance(replies[2], Error)
        values = [link.read()[1], mover.read(), new.read()[1]]
        left = self.link.ask("LRANGE", "l", 0, -1)
        self.assertEqual(len(set(values + left)), 3)
        self.assertEqual(values[1], values[2])
        self.assertEqual(set(values + left), {b"1", b"2", b"4"})


class Streams(Waiters):
    def group(self, *words):
        return ("XREADGROUP", "GROUP", "g", "c", *words)

    def make_group(self, key="s"):
        self.assertEqual(self.link.ask(
            "XGROUP", "CREATE", key, "g", "$", "MKSTREAM"), b"OK")

    def test_all_that_read_get_the_entry(self):
        ask = self.link.ask
        ask("XADD", "s", "1-1", "f", "u")
        links = [self.block("XREAD", "BLOCK", 0, "STREAMS", "t", "s", "$", "$")
                 for _ in range(3)]
        ask("XADD", "s", "1-2", "f", "v")
        for link in links:
            self.assertEqual(link.read(),
                             [[b"s", [[b"1-2", [b"f", b"v"]]]]])
        self.assertEqual(ask("XREAD", "BLOCK", 50, "STREAMS", "s", "$"), None)

    def test_one_of_a_group_gets_the_entry(self):
        ask = self.link.ask
        self.make_group()
        links = [self.block(*self.group("BLOCK", 0, "STREAMS", "s", ">"))
                 for _ in range(2)]
        ask("XADD", "s", "1-1", "f", "v")
        self.assertEqual(links[0].read(),
                         [[b"s", [[b"1-1", [b"f", b"v"]]]]])
        self.wait_until_blocked(1)
        ask("XADD", "s", "1-2", "f", "v")
        self.assertEqual(links[1].read(),
                         [[b"s", [[b"1-2", [b"f", b"v"]]]]])
        self.assertEqual(ask("XPENDING", "s", "g")[0], 2)

    def test_what_is_pending_is_read_at_once(self):
        ask = self.link.ask
        self.make_group()
        self.assertEqual(ask(*self.group("BLOCK", 0, "STREAMS", "s", "0")),
                         [[b"s", []]])

    def test_other_processes_wake_those_that_read(self):
        self.make_group("g")
        link = self.block("XREAD", "BLOCK", 0, "STREAMS", "s", "0")
        member = self.block(*self.group("BLOCK", 0, "STREAMS", "g", ">"))
        self.write_elsewhere("XADD", "s", "1-1", "f", "v")
        self.assertEqual(link.read(), [[b"s", [[b"1-1", [b"f", b"v"]]]]])
        self.write_elsewhere("XADD", "g", "2-1", "f", "v")
        self.assertEqual(member.read(), [[b"g", [[b"2-1", [b"f", b"v"]]]]])

    def test_those_whose_group_goes_get_an_error(self):
        for words, error in (
                (("XGROUP", "DESTROY", "s", "g"), "NOGROUP "),
                (("DEL", "s"), "UNBLOCKED the stream key no longer exists"),
                (("SET", "s", "x"), "UNBLOCKED "),
                (("RENAME", "s", "t"), "UNBLOCKED "),
                (("FLUSHALL",), "UNBLOCKED ")):
            for how in (self.link.ask, self.write_elsewhere):
                self.link.ask("DEL", "s")
                self.make_group()
                member = self.block(*self.group("BLOCK", 0, "STREAMS", "s",
                                                ">"))
                reader = self.block("XREAD", "BLOCK", 0, "STREAMS", "s", "0")
                how(*words)
                reply = member.read()
                self.assertIsInstance(reply, Error)
                self.assertTrue(reply.startswith(error), (words, reply))
                self.wait_until_blocked(1)
                self.link.ask("DEL", "s")
                self.link.ask("XADD", "s", "1-1", "f", "v")
                self.assertEqual(len(reader.read()), 1)
                self.waiting = 0

    def test_those_whose_stream_expires_get_an_error(self):
        wait = self.group("BLOCK", 0, "STREAMS", "s", ">")
        before = [lambda: self.link.ask("PEXPIRE", "s", 100), lambda: None]
        after = [lambda: None, lambda: self.link.ask("PEXPIRE", "s", 100)]
        for expire, expire_then in zip(before, after):
            self.make_group()
            expire()
            member = self.block(*wait)
            expire_then()
            self.assertEqual(member.read(),
                             "UNBLOCKED the stream key no longer exists")
            self.waiting = 0

    def test_changes_without_an_entry_run_no_one_again(self):
        ask = self.link.ask
        ask("XADD", "s", "1-1", "f", "v")
        self.make_group()
        ask("XGROUP", "CREATE", "s", "h", 0)
        members = [self.block(*self.group("BLOCK", 0, "STREAMS", "s", ">"))
                   for _ in range(3)]
        reader = self.block("XREAD", "BLOCK", 0, "STREAMS", "s", "$")
        ask("CONFIG", "SET", "slowlog-log-slower-than", 0)
        ask("SLOWLOG", "RESET") # one of these may have been slow

        def runs(name):
            return sum(entry[3][0] == name
                       for entry in ask("SLOWLOG", "GET", -1))

        for number in range(5):
            ask("XREADGROUP", "GROUP", "h", "c", "STREAMS", "s", number)
            ask("PEXPIRE", "s", 1000000 + number)
            self.write_elsewhere("XCLAIM", "s", "h", "c", "0", "1-1", "FORCE")
            self.write_elsewhere("XACK", "s", "h", "1-1")
        ask("EVAL", "redis.call('xadd', KEYS[1], '2-1', 'f', 'v')"
            "return redis.call('xdel', KEYS[1], '2-1')", 1, "s")
        self.assertEqual([runs(b"XREADGROUP"), runs(b"XREAD")], [5, 0])
        ask("XADD", "s", "3-1", "f", "v")
        self.assertEqual(members[0].read(), reader.read())
        self.wait_until_blocked(2)
        self.assertEqual([runs(b"XREADGROUP"), runs(b"XREAD")], [6, 1])

    def test_within_exec_and_scripts_nothing_waits(self):
        self.make_group()
        self.link.socket.sendall(
            encode("MULTI") +
            encode("XREAD", "BLOCK", 0, "STREAMS", "s", "$") +
            encode(*self.group("BLOCK", 0, "STREAMS", "s", ">")) +
            encode("EXEC"))
        self.assertEqual([self.link.read() for _ in range(4)][3], [None] * 2)
        for name in ("xread", "xreadgroup"):
            group = "'group', 'g', 'c', " if name == "xreadgroup" else ""
            self.assertIn(f"{name} command is not allowed with BLOCK",
                          self.link.ask(
                              "EVAL", f"return redis.call('{name}', {group}"
                              "'block', 0, 'streams', 's', '0')", 0))

    def test_an_entry_of_exec_is_served_after_it(self):
        link = self.block("XREAD", "BLOCK", 0, "STREAMS", "s", "$")
        self.link.socket.sendall(
            encode("MULTI") + encode("XADD", "s", "1-1", "f", "v") +
            encode("XADD", "s", "1-2", "f", "v") + encode("EXEC"))
        self.assertEqual(len(link.read()[0][1]), 2)


class Full(Waiters):
    url = "?max_size=16M"

    def test_a_push_that_does_not_fit_serves_no_one(self):
        link = self.block("BLPOP", "l", 0)
        large = b"x" * 1000000
        self.link.socket.sendall(
            b"".join(encode("SET", f"k{i}", large) for i in range(40)) +
            encode("MULTI") + encode("RPUSH", "l", "lost") +
            encode("SET", "more", large) + encode("EXEC") +
            encode("DEL", "k0", "k1", "k2") + encode("RPUSH", "l", "found"))
        replies = [self.link.read() for _ in range(46)]
        self.assertEqual(replies[43], FULL)
        self.assertEqual(replies[44:], [3, 1])
        self.assertEqual(link.read(), [b"l", b"found"])

    def test_streams_that_are_full_can_be_emptied(self):
        ask = self.link.ask
        for name in ("s", "t", "u"):
            for i in range(1, 101):
                ask("XADD", name, f"1-{i}", "f", i)
            ask("XGROUP", "CREATE", name, "g", "0")
            ask("XREADGROUP", "GROUP", "g", "a", "COUNT", 50, "STREAMS", name,
                ">")
        for size in (1000000, 10000, 1000, 10):
            i = 0
            while ask("SET", f"k{size}-{i}", b"x" * size) == b"OK":
                i += 1
        for words in (("XADD", "s", "*", "f", "v"),
                      ("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"),
                      ("XCLAIM", "s", "g", "b", 0, "1-1"),
                      ("XAUTOCLAIM", "s", "g", "b", 0, "0"),
                      ("XSETID", "s", "9-9"),
                      ("XGROUP", "CREATE", "s", "h", "0"),
                      ("XGROUP", "CREATECONSUMER", "s", "g", "c")):
            self.assertEqual(ask(*words), FULL, words)
        self.assertEqual(ask("XACK", "s", "g", *(f"1-{i}"
                                                 for i in range(1, 11))), 10)
        self.assertEqual(ask("XDEL", "s", "1-1", "1-20", "1-100"), 3)
        self.assertEqual(ask("XTRIM", "s", "MAXLEN", 10), 87)
        self.assertEqual(ask("XGROUP", "DELCONSUMER", "s", "g", "a"), 40)
        self.assertEqual(ask("XGROUP", "DESTROY", "t", "g"), 1)
        self.assertEqual(ask("XLEN", "s"), 10)
        ask("DEL", *(f"k1000000-{i}" for i in range(5)))
        self.assertEqual(ask("XADD", "s", "2-1", "f", "v"), b"2-1")


if __name__ == "__main__":
    unittest.main()
