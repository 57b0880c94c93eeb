# SPDX-License-Identifier: Apache-2.0
"""http_pause_test.py PROGRAM - serve --http while no command is run."""

import socket
import threading
import time
import unittest

from http_server import BEARER, PROGRAM, TOKEN, Edited, await_that, end_hold
from server import slower


class Paused(Edited):
    def ask_half(self, server, link, method, path, body):
        """The status of a request that waits, whose client sends no more."""
        link.ask("CLIENT", "PAUSE", 1000, "ALL")
        busy = threading.Thread(target=server.ask, args=("/info",))
        busy.start()
        time.sleep(0.3)  # so that the other one waits
        with server.raw(
                method + b" " + path + b" HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n"
                b"Authorization: Bearer " + TOKEN.encode() +
                b"\r\nContent-Length: %d\r\n\r\n" % len(body) +
                body) as half:
            half.shutdown(socket.SHUT_WR)
            code = half.recv(12)[9:]
        busy.join()
        return code

    def test_a_client_may_close_its_sending_side_after_a_read(self):
        server = self.other("--http-token-file", self.file, "--allow-edit")
        link = server.connect()
        link.ask("SET", "a", "1")
        self.assertEqual(server.ask("/keys")[0], 200)
        for path in (b"/keys", b"/locks"):
            # libmicrohttpd ends one whose end it sees before the answer.
            codes = {self.ask_half(server, link, b"GET", path, b"")
                     for _ in range(4)}
            self.assertIn(b"200", codes)
            self.assertLessEqual(codes, {b"200", b""})
        self.assertIn(self.ask_half(server, link, b"POST", b"/delete",
                                    b"name=a"), (b"503", b""))
        self.assertEqual(link.ask("EXISTS", "a"), 1)
        link.close()

    def test_a_lock_that_is_acquired_before_a_change_is_run_stays(self):
        ask = self.link.ask
        self.assertEqual(self.server.ask("/keys")[0], 200)
        answers = []
        ask("CLIENT", "PAUSE", 3000, "WRITE")
        late = threading.Thread(target=lambda: answers.append(
            self.server.ask("/delete", "POST", name=b"job")))
        late.start()
        time.sleep(0.5)
        held = self.server.hold("job")
        late.join()
        self.assertEqual(answers[0][0], 409, answers)
        self.assertEqual(ask("EXISTS", "job"), 1)
        self.assertEqual(end_hold(held), 0)

    def test_a_stall_of_the_server_does_not_stop_views(self):
        server = self.other("--http-token-file", self.file)
        link = server.connect()
        self.assertEqual(server.ask("/keys")[0], 200)
        link.ask("CLIENT", "PAUSE", 60000, "ALL")
        began = time.monotonic()
        for path in ("/metrics", "/locks", "/history"):
            time.sleep(1.1)  # the view before is too old
            self.assertEqual(server.status(path, **BEARER), 200)
        self.assertLess(time.monotonic() - began, 3.3 + 3 * slower(PROGRAM))
        query = threading.Thread(target=server.ask, args=("/keys",))
        began = time.monotonic()
        query.start()
        time.sleep(0.5)  # it runs now, for 5 s
        for path in ("/history", "/locks", "/metrics"):
            self.assertEqual(server.status(path, **BEARER), 200)
            self.assertTrue(query.is_alive())
        self.assertLess(time.monotonic() - began, 0.5 + 2 * slower(PROGRAM))
        query.join()
        link.close()

    def test_a_change_that_is_late_or_whose_client_is_gone_is_not_made(self):
        server = self.other("--http-token-file", self.file, "--allow-edit")
        link = server.connect()
        link.ask("MSET", "late", "1", "gone", "1")
        self.assertEqual(server.ask("/keys")[0], 200)
        codes = []
        link.ask("CLIENT", "PAUSE", 14000, "ALL")
        busy = [threading.Thread(target=lambda path=path, words=words: codes.append(
                    server.ask(path, "POST" if words else "GET", **words)))
                for path, words in (("/keys", {}), ("/keys", {}),
                                    ("/delete", {"name": b"late"}))]
        for thread in busy:  # the first two take 5 s and 4 s, each then as
            thread.start()   # long nothing is run
            time.sleep(0.2 if thread is busy[1] else 2)
        server.raw(b"POST /delete HTTP/1.1\r\nHost: localhost\r\n"
                   b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
                   b"Content-Type: application/x-www-form-urlencoded\r\n"
                   b"Content-Length: 9\r\n\r\nname=gone").close()
        for thread in busy:
            thread.join()
        self.assertIn((503, b"the server is too busy; nothing was changed\n"),
                      codes)
        self.assertEqual(await_that(
            lambda: server.ask("/keys")[0] == 200), True)
        self.assertEqual(link.ask("EXISTS", "late", "gone"), 2)
        link.close()

    def test_a_change_of_which_nothing_is_known_is_reported_and_not_made_later(
            self):
        server = self.other("--http-token-file", self.file, "--allow-edit")
        link = server.connect()
        link.ask("SET", "a", "1")
        self.assertEqual(server.ask("/keys")[0], 200)
        link.ask("CLIENT", "PAUSE", 7000, "ALL")
        code, answer = server.ask("/delete", "POST", name=b"a")
        self.assertEqual((code, "the key may have been changed"
                          in answer["error"]), (503, True), answer)
        self.assertNotIn("//", answer["error"])
        self.assertEqual(await_that(
            lambda: server.ask("/keys")[0] == 200), True)
        self.assertEqual(link.ask("EXISTS", "a"), 1)
        link.close()


if __name__ == "__main__":
    unittest.main()
