# SPDX-License-Identifier: Apache-2.0
"""kill_test.py PROGRAM - kill -9 of a server under load.

Two servers share a durable store. One is killed again and again, while clients
of both count: what was acknowledged is there, nothing is applied twice, and
clients of the other server notice nothing. HF_TEST_KILLS: how often (4).
"""

import os
import random
import sys
import threading
import time
import unittest

from server import Server, encode

PROGRAM = sys.argv.pop()
KILLS = int(os.environ.get("HF_TEST_KILLS", "4"))
CLIENTS = 4
BATCH = 8


class Counter(threading.Thread):
    """Counts in batches on one connection, until it breaks or is to stop."""

    def __init__(self, server, key):
        super().__init__()
        self.link = server.connect()
        self.key = key
        self.acknowledged = 0
        self.sent = 0
        self.running = True
        self.broken = False
        self.start()

    def run(self):
        try:
            while self.running:
                self.sent += BATCH
                self.link.socket.sendall(encode("INCR", self.key) * BATCH)
                for _ in range(BATCH):
                    value = self.link.read()
                    assert isinstance(value, int), value
                    self.acknowledged = value
        except (OSError, EOFError):
            self.broken = True
        self.link.close()

    def stop(self):
        self.running = False
        self.join()


class Kills(unittest.TestCase):
    def test_what_was_acknowledged_survives(self):
        other = Server(PROGRAM, scheme="file")
        self.addCleanup(other.close)
        witness = Counter(other, "witness")
        reader = other.connect()
        for number in range(KILLS):
            victim = Server(PROGRAM, store=other.store)
            counters = [Counter(victim, f"n{number}:{i}")
                        for i in range(CLIENTS)]
            time.sleep(random.uniform(0.02, 0.15))
            victim.process.kill()
            for counter in counters:
                counter.join(60)
                value = int(reader.ask("GET", counter.key) or 0)
                self.assertTrue(counter.broken)
                self.assertGreaterEqual(value, counter.acknowledged)
                self.assertLessEqual(value, counter.sent)
            victim.process.wait()
            victim.close()
        before = witness.acknowledged
        witness.stop()
        self.assertFalse(witness.broken)
        self.assertGreater(before, 0)
        self.assertEqual(witness.acknowledged,
                         int(reader.ask("GET", "witness")))
        reader.close()

    def test_server_of_a_store_that_is_gone_ends(self):
        with Server(PROGRAM, scheme="file", log=True) as server:
            link = server.connect()
            self.assertEqual(link.ask("SET", "a", "1"), b"OK")
            folder = server.store.removeprefix("file:")
            os.rename(folder, folder + ".old")
            with Server(PROGRAM, store=server.store) as later:
                self.assertIsNone(later.connect().ask("GET", "a"))
                self.assertEqual(server.process.wait(30), 65)
            self.assertIn("removed or replaced", server.process.stderr.read())
            link.close()


if __name__ == "__main__":
    unittest.main()
