# SPDX-License-Identifier: Apache-2.0
"""rounds_test.py PROGRAM - requests, pipelines and rounds that are undone."""

import signal
import socket
import sys
import time
import unittest

from server import Error, Server, encode

PROGRAM = sys.argv.pop()


class Requests(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM, url="?script_budget_ms=50")
        self.addCleanup(self.server.close)
        self.link = self.server.connect()
        self.addCleanup(self.link.close)

    def test_replies_have_their_types(self):
        ask = self.link.ask
        self.assertEqual(ask("SET", "a", b"\0\r\n"), b"OK")
        self.assertEqual(ask("get", "a"), b"\0\r\n")
        self.assertEqual(ask("GET", "none"), None)
        self.assertEqual(ask("RPUSH", "l", "x", "y"), 2)
        self.assertEqual(ask("LRANGE", "l", 0, -1), [b"x", b"y"])
        self.assertEqual(ask("EVAL", "return {1, {2, false}, 'x'}", 0),
                         [1, [2, None], b"x"])
        self.assertEqual(
            ask("LPUSH", "a", "x"),
            "WRONGTYPE Operation against a key holding the wrong kind of "
            "value")
        self.assertEqual(
            ask("GET"),
            "ERR wrong number of arguments for 'get' command")
        self.assertEqual(
            ask("WHAT", "x"),
            "ERR unknown command 'WHAT', with args beginning with: 'x' ")

    def test_scripts_reply_in_the_types_of_resp3(self):
        scripts = (
            ("return {map = {a = 1}}", [b"a", 1], {b"a": 1}),
            ("return {set = {a = true}}", [b"a"], [b"a"]),
            ("return {double = 1.5}", b"1.5", 1.5),
            ("return {true, false}", [1, None], [1, None]),
            ("redis.setresp(3) return {true, false}", [1, 0], [True, False]),
            ("return {verbatim_string = {format = 'mkd', string = 'x'}}",
             b"x", b"mkd:x"),
            ("return {big_number = '123'}", b"123", 123),
            ("redis.call('hset', 'h', 'f', 'v') "
             "return redis.call('hgetall', 'h')", [b"f", b"v"], [b"f", b"v"]),
            ("redis.setresp(3) return redis.call('hgetall', 'h')",
             [b"f", b"v"], {b"f": b"v"}))
        for script, resp2, _ in scripts:
            self.assertEqual(self.link.ask("EVAL", script, 0), resp2)
        self.link.ask("HELLO", 3)
        for script, _, resp3 in scripts:
            reply = self.link.ask("EVAL", script, 0)
            self.assertEqual((type(reply), reply), (type(resp3), resp3))

    def test_a_request_may_come_byte_by_byte(self):
        for byte in encode("SET", "key", "value") + b"get  'key'\r\n":
            self.link.socket.sendall(bytes([byte]))
        self.assertEqual(self.link.read(), b"OK")
        self.assertEqual(self.link.read(), b"value")

    def test_a_line_has_words_and_quotes(self):
        self.link.socket.sendall(
            b'\r\necho "a\\x41\\n \\"b"\r\necho \'a\\\'b\'\necho "x\r\n')
        self.assertEqual(self.link.read(), b'aA\n "b')
        self.assertEqual(self.link.read(), b"a'b")
        self.assertEqual(self.link.read(),
                         "ERR Protocol error: unbalanced quotes in request")
        with self.assertRaises(EOFError):
            self.link.read()

    def test_what_is_no_request_ends_the_connection(self):
        for text, error in (
                (b"*1\r\n:1\r\n", "expected '$', got ':'"),
                (b"*1048577\r\n", "invalid multibulk length"),
                (b"*x\r\n", "invalid multibulk length"),
                (b"*1\r\n$1073741824\r\n", "invalid bulk length"),
                (b"*1\r\n$-1\r\n", "invalid bulk length"),
                (b"*" + b"1" * 70000, "too big mbulk count string"),
                (b"x" * 70000, "too big inline request")):
            link = self.server.connect()
            link.socket.sendall(encode("PING") + text)
            self.assertEqual(link.read(), b"PONG")
            self.assertEqual(link.read(), "ERR Protocol error: " + error)
            with self.assertRaises(EOFError):
                link.read()
            link.close()

    def test_a_pipeline_keeps_its_order(self):
        count = 20000
        self.link.socket.sendall(
            b"".join(encode("INCR", "n") for _ in range(count)) +
            encode("HELLO", 3) + encode("GET", "none") + encode("GET", "n"))
        self.assertEqual([self.link.read() for _ in range(count)],
                         list(range(1, count + 1)))
        self.assertEqual(self.link.read()[b"proto"], 3)
        self.assertEqual(self.link.read(), None)
        self.assertEqual(self.link.read(), str(count).encode())

    def test_a_stopped_script_fails_alone(self):
        links = [self.server.connect() for _ in range(4)]
        endless = encode("EVAL", "redis.call('incr', 'n') while true do end", 0)
        batch = encode("INCR", "n") * 5
        for index, link in enumerate(links):
            link.socket.sendall(batch + (endless if index == 1 else b"") +
                                batch)
        replies = [[link.read() for _ in range(10 + (index == 1))]
                   for index, link in enumerate(links)]
        self.assertIsInstance(replies[1].pop(5), Error)
        self.assertEqual(sorted(sum(replies, [])), list(range(1, 41)))
        for link in links:
            link.close()

    def test_input_may_end_before_the_replies_are_read(self):
        count = 30000
        self.link.socket.sendall(encode("ECHO", "x" * 100) * count)
        self.link.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(self.link.lines.read(),
                         (b"$100\r\n" + b"x" * 100 + b"\r\n") * count)

    def test_quit_among_rounds_that_are_undone(self):
        other = self.server.connect()
        endless = encode("EVAL", "while true do end", 0)
        for _ in range(20):
            link = self.server.connect()
            other.socket.sendall(endless)
            link.socket.sendall(encode("QUIT"))
            self.assertEqual(link.lines.read(), b"+OK\r\n")
            link.close()
            self.assertIsInstance(other.read(), Error)
        other.close()

    def test_the_error_goes_to_the_request_that_failed(self):
        other = self.server.connect()
        self.addCleanup(other.close)
        for _ in range(5):
            self.link.socket.sendall(encode("INCR", "n") + encode("HELLO", 2) +
                                     encode("INCR", "n"))
            other.send("EVAL", "while true do end", 0)
            self.assertIsInstance(other.read(), Error)
            for _ in range(3):
                self.assertNotIsInstance(self.link.read(), Error)

    def test_a_pipeline_of_large_replies_is_answered(self):
        self.link.ask("SET", "a", b"x" * 1000000)
        self.link.socket.sendall(encode("GET", "a") * 40)
        for _ in range(40):
            self.assertEqual(len(self.link.read()), 1000000)

    def test_requests_that_wait_are_not_read_without_limit(self):
        waiting = self.server.connect()
        waiting.socket.settimeout(1)
        self.link.ask("CLIENT", "PAUSE", 10 ** 9)
        with self.assertRaises(TimeoutError):
            for _ in range(200):
                waiting.socket.sendall(encode("SET", "a", b"x" * 1000000))
        waiting.close()

    def test_a_stop_answers_what_was_sent(self):
        self.link.socket.sendall(b"".join(encode("INCR", "n")
                                          for _ in range(10000)))
        self.assertEqual(self.link.read(), 1)
        self.server.process.terminate()
        last = 1
        try:
            while True:
                last = self.link.read()
        except EOFError:
            pass
        self.assertEqual(self.server.process.wait(), 0)
        self.assertGreaterEqual(last, 1)


class Locked(unittest.TestCase):
    def test_all_are_answered_though_units_cannot_run_again(self):
        endless = encode("EVAL", "redis.call('incr', 'n') while true do end",
                         0)
        server = Server(PROGRAM, url="?script_budget_ms=300")
        self.addCleanup(server.close)
        locker = Server(PROGRAM, store=server.store.replace("300", "60000"))
        self.addCleanup(locker.close)
        links = [server.connect() for _ in range(3)]
        links.append(locker.connect())
        for link in links:
            self.addCleanup(link.close)
            link.ask("PING")
        server.process.send_signal(signal.SIGSTOP)
        for link, request in zip(links, (encode("PING"), encode("INCR", "n"),
                                         endless)):
            link.socket.sendall(request)
        server.process.send_signal(signal.SIGCONT)
        time.sleep(0.1)
        links[3].socket.sendall(endless)
        time.sleep(0.9)
        locker.process.send_signal(signal.SIGSTOP)
        self.assertEqual(links[0].read(), b"PONG")
        locker.process.kill()
        for link in links[1:3]:
            link.read()


class Full(unittest.TestCase):
    def test_a_full_store_refuses_what_does_not_fit(self):
        with Server(PROGRAM, url="?max_size=16M") as server:
            link = server.connect()
            large = b"x" * 1000000
            batch = b"".join(encode("SET", f"k{i}", large) +
                             encode("INCR", "n") for i in range(40))
            link.socket.sendall(batch)
            replies = [link.read() for _ in range(80)]
            self.assertEqual(replies[1::2], list(range(1, 41)))
            refused = [reply for reply in replies[::2] if reply != b"OK"]
            self.assertTrue(refused)
            self.assertEqual(set(refused), {
                "OOM command not allowed when used memory > 'maxmemory'."})
            link.close()


if __name__ == "__main__":
    unittest.main()
