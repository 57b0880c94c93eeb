# SPDX-License-Identifier: Apache-2.0
"""web_test.py PROGRAM - what a web page has a browser send to the port."""

import socket
import sys
import unittest

from server import Server, encode

PROGRAM = sys.argv.pop()
BODY = b"SET pwned 1\r\nEVAL \"return redis.call('set','pwned',2)\" 0\r\n"


def request(method, *headers):
    lines = [method + b" / HTTP/1.1", *headers,
             b"Content-Length: %d" % len(BODY), b"", BODY]
    return b"\r\n".join(lines)


class Web(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PROGRAM, log=True)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.close() == 0

    def ask(self, *words):
        link = self.server.connect()
        self.addCleanup(link.close)
        return link.ask(*words)

    def replies(self, data):
        """All that is replied."""
        link = self.server.connect()
        self.addCleanup(link.close)
        link.socket.sendall(data)
        link.socket.shutdown(socket.SHUT_WR)
        try:
            return link.lines.read()
        except ConnectionResetError:
            return b""

    def test_http_is_not_answered(self):
        for data in (request(b"POST", b"Host: a"),
                     request(b"GET", b"Host: a"),
                     request(b"PUT", b"Host: a"),
                     request(b"SET", b"Host: a"),
                     b"post x\r\n" + BODY,
                     b"Host: a\r\n" + BODY,
                     b"hOST:\r\n" + BODY,
                     b"  POST / HTTP/1.1\n" + BODY,
                     b'"POST"\r\n' + BODY,
                     encode("Post", "/") + BODY,
                     encode("host:", "a") + BODY,
                     b"OPTIONS * HTTP/1.1\r\n" + BODY,
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + BODY):
            with self.subTest(data):
                self.assertEqual(self.replies(data), b"")
                self.assertIsNone(self.ask("GET", "pwned"))

    def test_what_came_before_is_answered(self):
        self.assertEqual(self.replies(b"PING\r\nSET before 1\r\n" +
                                      request(b"POST")), b"+PONG\r\n+OK\r\n")
        self.assertEqual(self.ask("GET", "before"), b"1")
        self.assertEqual(self.replies(b"MULTI\r\nSET pwned 1\r\nPOST a\r\n"
                                      b"EXEC\r\n"), b"+OK\r\n+QUEUED\r\n")
        self.assertIsNone(self.ask("GET", "pwned"))

    def test_words_of_http_are_no_http(self):
        link = self.server.connect()
        self.addCleanup(link.close)
        self.assertEqual(link.ask("SET", "/", "HTTP/1.1"), b"OK")
        link.socket.sendall(b"GET /\r\nSET POST HTTP/\r\nGET POST\r\n"
                            b"EXISTS / Host:\r\n")
        self.assertEqual([link.read() for _ in range(4)],
                         [b"HTTP/1.1", b"OK", b"HTTP/", 1])

    def test_it_is_reported_once(self):
        with Server(PROGRAM, log=True) as server:
            for _ in range(3):
                link = server.connect()
                link.socket.sendall(request(b"POST", b"Host: a"))
                self.assertRaises((EOFError, ConnectionResetError), link.read)
                link.close()
            server.process.terminate()
            lines = server.process.stderr.readlines()
            server.close()
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("requests of HTTP refused: 1, the last from ", lines[0])


if __name__ == "__main__":
    unittest.main()
