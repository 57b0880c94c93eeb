# SPDX-License-Identifier: Apache-2.0
"""multi_test.py PROGRAM - MULTI, EXEC, DISCARD, WATCH, UNWATCH."""

import subprocess
import sys
import time
import unittest

from server import Error, Server, encode

PROGRAM = sys.argv.pop()

ABORTED = "EXECABORT Transaction discarded because of previous errors."
FULL = "OOM command not allowed when used memory > 'maxmemory'."


class Transactions(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM, url="?script_budget_ms=50")
        self.addCleanup(self.server.close)
        self.link = self.connect()

    def connect(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link

    def ask_all(self, *requests):
        self.link.socket.sendall(b"".join(encode(*words)
                                          for words in requests))
        return [self.link.read() for _ in requests]

    def write_elsewhere(self, *words):
        subprocess.run([PROGRAM, "--store", self.server.store, "command",
                        *words], check=True, stdout=subprocess.DEVNULL)

    def test_exec_runs_what_was_queued(self):
        self.assertEqual(
            self.ask_all(("MULTI",), ("SET", "a", 1), ("incr", "a"),
                         ("LRANGE", "none", 0, -1), ("GET", "none"),
                         ("eval", "return {1, redis.call('get', 'a')}", 0),
                         ("PING",), ("EXEC",)),
            [b"OK"] + [b"QUEUED"] * 6 +
            [[b"OK", 2, [], None, [1, b"2"], b"PONG"]])
        self.assertEqual(self.ask_all(("MULTI",), ("EXEC",), ("GET", "a")),
                         [b"OK", [], b"2"])

    def test_an_error_in_exec_leaves_the_others(self):
        self.assertEqual(
            self.ask_all(("MULTI",), ("SET", "a", "x"), ("INCR", "a"),
                         ("SET", "b", "y"), ("EXEC",), ("GET", "b"))[4:],
            [[b"OK", "ERR value is not an integer or out of range", b"OK"],
             b"y"])

    def test_a_refused_request_aborts(self):
        for bad, text in (
                (("WHAT",), "ERR unknown command 'WHAT', "
                 "with args beginning with: "),
                (("GET",), "ERR wrong number of arguments for 'get' command"),
                (("HELLO", 3),
                 "ERR Command not allowed inside a transaction")):
            self.assertEqual(
                self.ask_all(("MULTI",), ("SET", "a", 1), bad,
                             ("SET", "a", 2), ("EXEC",), ("EXISTS", "a")),
                [b"OK", b"QUEUED", text, b"QUEUED", ABORTED, 0])

    def test_a_wrong_subcommand_aborts(self):
        for name, sub, wrong in (
                ("OBJECT", "ENCODING", ()), ("CONFIG", "GET", ()),
                ("SCRIPT", "LOAD", ("a", "b")), ("LATENCY", "RESET", None),
                ("COMMAND", "COUNT", ("x",)), ("SLOWLOG", "LEN", ("x",)),
                ("CLIENT", "ID", ("x",)), ("PUBSUB", "NUMPAT", ("x",)),
                ("MEMORY", "USAGE", ()), ("MODULE", "LIST", ("x",))):
            bad = [((name, "what"), f"ERR unknown subcommand 'what'. "
                    f"Try {name} HELP.")]
            if wrong is not None:
                bad.append(((name, sub, *wrong), "ERR wrong number of "
                            f"arguments for '{name.lower()}|{sub.lower()}' "
                            "command"))
            for words, text in bad:
                self.assertEqual(
                    self.ask_all(("MULTI",), ("SET", "a", 1), words,
                                 ("EXEC",), ("EXISTS", "a")),
                    [b"OK", b"QUEUED", text, ABORTED, 0])

    def test_an_exec_that_is_refused_ends_the_transaction(self):
        self.assertEqual(
            self.ask_all(("MULTI",), ("SET", "a", 1), ("EXEC", "x"),
                         ("EXISTS", "a"), ("EXEC",)),
            [b"OK", b"QUEUED", "EXECABORT Transaction discarded because of: "
             "wrong number of arguments for 'exec' command", 0,
             "ERR EXEC without MULTI"])

    def test_what_is_out_of_place(self):
        self.assertEqual(
            self.ask_all(("EXEC",), ("DISCARD",), ("MULTI",), ("MULTI",),
                         ("WATCH", "a"), ("SET", "a", 1), ("EXEC",)),
            ["ERR EXEC without MULTI", "ERR DISCARD without MULTI", b"OK",
             "ERR MULTI calls can not be nested",
             "ERR WATCH inside MULTI is not allowed", b"QUEUED", [b"OK"]])

    def test_discard_reset_and_a_lost_connection_run_nothing(self):
        self.assertEqual(
            self.ask_all(("MULTI",), ("SET", "a", 1), ("DISCARD",),
                         ("MULTI",), ("SET", "a", 1), ("RESET",), ("EXEC",)),
            [b"OK", b"QUEUED", b"OK", b"OK", b"QUEUED", b"RESET",
             "ERR EXEC without MULTI"])
        other = self.connect()
        other.send("MULTI")
        other.ask("SET", "a", 1)
        other.close()
        self.assertEqual(self.link.ask("EXISTS", "a"), 0)

    def test_replies_of_resp3(self):
        self.link.ask("HELLO", 3)
        self.link.ask("HSET", "h", "f", "v")
        self.assertEqual(
            self.ask_all(("MULTI",), ("HGETALL", "h"), ("GET", "none"),
                         ("EXEC",))[3], [{b"f": b"v"}, None])
        self.link.ask("WATCH", "h")
        self.connect().ask("DEL", "h")
        self.assertEqual(self.ask_all(("MULTI",), ("EXEC",))[1], None)

    def test_transactions_are_not_interleaved(self):
        count, links = 200, [self.connect() for _ in range(4)]
        for index, link in enumerate(links):
            link.socket.sendall(b"".join(
                encode("MULTI") + encode("SET", "who", index) +
                encode("INCR", "n") + encode("GET", "who") + encode("EXEC")
                for _ in range(count)))
        seen = []
        for index, link in enumerate(links):
            for _ in range(count):
                replies = [link.read() for _ in range(5)][4]
                self.assertEqual(replies[0::2], [b"OK", b"%d" % index])
                seen.append(replies[1])
        self.assertEqual(sorted(seen), list(range(1, 4 * count + 1)))

    # ---------------------------------------------------------------- WATCH

    def exec_after(self, *changes, watched=("w",)):
        """Is EXEC refused after these requests of another connection?"""
        self.assertEqual(self.link.ask("WATCH", *watched), b"OK")
        other = self.connect()
        for words in changes:
            other.ask(*words)
        reply = self.ask_all(("MULTI",), ("PING",), ("EXEC",))[2]
        self.assertIn(reply, (None, [b"PONG"]))
        return reply is None

    def test_pfadd_of_what_is_there_changes_nothing(self):
        self.link.ask("PFADD", "w", "a")
        self.assertFalse(self.exec_after(("PFADD", "w", "a")))
        self.assertTrue(self.exec_after(("PFDEBUG", "TODENSE", "w")))
        self.assertFalse(self.exec_after(("PFADD", "w", "a")))
        self.assertTrue(self.exec_after(("PFADD", "w", "b")))
        self.assertTrue(self.exec_after(("PFCOUNT", "w")))
        self.assertFalse(self.exec_after(("PFCOUNT", "w")))

    def test_watch_sees_changes(self):
        self.link.ask("SET", "w", "x")
        self.link.ask("RPUSH", "l", *range(1000))
        self.assertFalse(self.exec_after())
        self.assertFalse(self.exec_after(("GET", "w"), ("SET", "other", 1)))
        self.assertTrue(self.exec_after(("SET", "w", "x")))
        self.assertTrue(self.exec_after(("APPEND", "w", "")))
        self.assertFalse(self.exec_after())
        self.assertTrue(self.exec_after(("EXPIRE", "w", 100)))
        self.assertTrue(self.exec_after(("RPUSH", "l", 1),
                                        watched=("w", "l")))
        self.assertTrue(self.exec_after(("LPUSH", "l", 1), ("LPOP", "l"),
                                        watched=("l",)))
        self.assertTrue(self.exec_after(
            ("EVAL", "redis.call('set', 'x', 1) redis.call('del', 'x')", 0),
            watched=("x",)))
        self.assertTrue(self.exec_after(("FLUSHALL",)))
        self.assertFalse(self.exec_after(("FLUSHALL",), ("FLUSHDB",),
                                         watched=("x",)))
        self.assertTrue(self.exec_after(("FLUSHALL",), ("SET", "x", 1),
                                        ("FLUSHALL",), watched=("x",)))
        self.assertTrue(self.exec_after(
            ("EVAL", "redis.call('set', 'x', 1) redis.call('flushall')", 0),
            watched=("x",)))
        self.assertTrue(self.exec_after(("SET", "w", 1), ("DEL", "w")))

    def test_watch_sees_other_processes(self):
        self.assertEqual(self.link.ask("WATCH", "w"), b"OK")
        self.write_elsewhere("SET", "other", "1")
        self.assertEqual(self.ask_all(("MULTI",), ("PING",), ("EXEC",))[2],
                         [b"PONG"])
        self.assertEqual(self.link.ask("WATCH", "w"), b"OK")
        self.write_elsewhere("SET", "w", "1")
        self.assertEqual(self.ask_all(("MULTI",), ("PING",), ("EXEC",))[2],
                         None)

    def test_watch_sees_its_own_connection(self):
        self.assertEqual(
            self.ask_all(("WATCH", "w"), ("SET", "w", 1), ("MULTI",),
                         ("SET", "w", 2), ("EXEC",), ("GET", "w")),
            [b"OK", b"OK", b"OK", b"QUEUED", None, b"1"])

    def test_an_expired_key_has_changed(self):
        self.link.ask("SET", "w", 1, "PX", 1000)  # WATCH comes before it
        self.link.ask("WATCH", "w")
        time.sleep(1.05)
        self.assertEqual(self.ask_all(("MULTI",), ("PING",), ("EXEC",))[2],
                         None)

    def test_watches_end(self):
        for end in (("UNWATCH",), ("MULTI",), ("RESET",)):
            self.link.ask("WATCH", "w")
            self.ask_all(end, *([("DISCARD",)] if end == ("MULTI",) else []))
            self.link.ask("SET", "w", 1)
            self.assertEqual(
                self.ask_all(("MULTI",), ("UNWATCH",), ("EXEC",))[2],
                [b"OK"])

    def test_watchers_that_collide_lose_no_update(self):
        count, links = 20, [self.connect() for _ in range(5)]
        for link in links:
            link.done = 0
            link.send("WATCH", "n")
            link.send("GET", "n")
        while any(link.done < count for link in links):
            for link in links:
                if link.done == count:
                    continue
                self.assertEqual(link.read(), b"OK")
                value = int(link.read() or 0)
                link.socket.sendall(encode("MULTI") +
                                    encode("SET", "n", value + 1) +
                                    encode("EXEC"))
            for link in links:
                if link.done == count:
                    continue
                link.done += [link.read() for _ in range(3)][2] == [b"OK"]
                if link.done < count:
                    link.socket.sendall(encode("WATCH", "n") +
                                        encode("GET", "n"))
        self.assertEqual(self.link.ask("GET", "n"), b"%d" % (count * 5))

    # ------------------------------------------------------ rounds undone

    def test_a_stopped_script_undoes_its_exec_alone(self):
        other, third = self.connect(), self.connect()
        self.link.ask("WATCH", "w")
        other.socket.sendall(
            encode("MULTI") + encode("INCR", "n") + encode("EXEC") +
            encode("MULTI") + encode("INCR", "n") +
            encode("PUBSUB", "NUMSUB", "a") +
            encode("EVAL", "while true do end", 0) + encode("EXEC") +
            encode("MULTI") + encode("INCR", "n") + encode("EXEC"))
        third.send("MULTI")
        third.socket.sendall(encode("INCR", "n") + encode("EXEC"))
        self.link.socket.sendall(
            encode("MULTI") + encode("INCR", "m") + encode("EXEC"))
        self.assertEqual([self.link.read() for _ in range(3)][2], [1])
        replies = [other.read() for _ in range(11)]
        self.assertIsInstance(replies[7], Error)
        mine = [replies[2][0], replies[10][0],
                [third.read() for _ in range(3)][2][0]]
        self.assertEqual(sorted(mine), [1, 2, 3])


class Full(unittest.TestCase):
    def test_what_does_not_fit_is_undone_as_a_whole(self):
        with Server(PROGRAM, url="?max_size=16M") as server:
            link = server.connect()
            large = b"x" * 1000000
            link.socket.sendall(b"".join(
                encode("MULTI") + encode("INCR", "n") +
                encode("SET", f"k{i}", large) + encode("INCR", "n") +
                encode("EXEC") for i in range(40)))
            done = 0
            for _ in range(40):
                reply = [link.read() for _ in range(5)][4]
                if reply == FULL:
                    continue
                self.assertEqual(reply, [2 * done + 1, b"OK", 2 * done + 2])
                done += 1
            self.assertTrue(0 < done < 40)
            self.assertEqual(link.ask("GET", "n"), b"%d" % (2 * done))
            self.assertEqual(link.ask("DBSIZE"), done + 1)
            link.close()


if __name__ == "__main__":
    unittest.main()
