#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""redis_py_test.py - redis-py's Lock and ours on the same names.

Usage: redis_py_test.py HOLDFAST REDIS_SERVER

Holdfast takes part by its command. Each side must exclude the other, wait for
the other, and notice when the other took the lock.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import redis
from redis.exceptions import LockNotOwnedError

HOLDFAST = ""
SERVER = ""

# Exit codes of the command.
DONE = 0
REFUSED = 1
LOST = 76

# From the release of a foreign lock, which wakes no one, to our grant; at most
# a tenth of a second on an idle machine.
TAKEN_OVER_S = 0.7


def slowness():
    """How many times longer leases must last than on an idle machine."""
    return min(max(os.getloadavg()[0] / os.cpu_count(), 1), 5)


class Store:
    """A server of our own on a unix socket."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "socket")
        self.url = "redis+unix://" + self.path
        self.process = subprocess.Popen(
            [SERVER, "--port", "0", "--unixsocket", self.path, "--save", "",
             "--appendonly", "no", "--dir", directory],
            stdout=subprocess.DEVNULL)
        self.client = redis.Redis(unix_socket_path=self.path)
        for _ in range(500):
            try:
                self.client.ping()
                return
            except redis.exceptions.ConnectionError:
                time.sleep(0.02)
        self.close()
        raise RuntimeError(f"{SERVER} does not reply")

    def close(self):
        self.client.close()
        self.process.kill()
        self.process.wait()


def run(store, name, *options, command=("true",)):
    """`holdfast run`; its exit code. What it says is shown if a test fails."""
    ended = subprocess.run(
        [HOLDFAST, "--store", store.url, "run", *options, name, *command],
        timeout=60, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(ended.stderr)
    return ended.returncode


class Holder:
    """`holdfast run` that holds a lock until told."""

    def __init__(self, store, name, *options):
        self.process = subprocess.Popen(
            [HOLDFAST, "--store", store.url, "run", *options, name,
             "sh", "-c", "echo held; read line"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        assert self.process.stdout.readline() == b"held\n"

    def end(self):
        self.process.communicate(b"end\n", timeout=60)
        return self.process.returncode


class RedisPy(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.store = Store(self.directory.name)
        self.client = self.store.client

    def tearDown(self):
        self.store.close()
        self.directory.cleanup()

    def test_theirs_excludes_ours(self):
        theirs = self.client.lock("name", timeout=30)
        self.assertTrue(theirs.acquire(blocking=False))
        self.assertEqual(run(self.store, "name", "-n"), REFUSED)
        self.assertEqual(run(self.store, "other", "-n"), DONE)
        theirs.release()
        self.assertEqual(run(self.store, "name", "-n"), DONE)

    def test_ours_excludes_theirs(self):
        ours = Holder(self.store, "name")
        theirs = self.client.lock("name", timeout=30)
        self.assertFalse(theirs.acquire(blocking=False))
        self.assertTrue(theirs.locked())
        self.assertEqual(ours.end(), DONE)
        self.assertTrue(theirs.acquire(blocking=False))
        theirs.release()

    def test_theirs_without_a_lease_excludes_ours(self):
        theirs = self.client.lock("name")
        self.assertTrue(theirs.acquire(blocking=False))
        self.assertEqual(run(self.store, "name", "-w", "0.2"), REFUSED)
        theirs.release()
        self.assertEqual(run(self.store, "name", "-n"), DONE)

    def test_theirs_waits_for_ours(self):
        ours = Holder(self.store, "name")
        theirs = self.client.lock("name", timeout=30, sleep=0.02,
                                  thread_local=False)
        got = []
        thread = threading.Thread(target=lambda: got.append(
            theirs.acquire(blocking_timeout=20)))
        thread.start()
        self.assertEqual(ours.end(), DONE)
        thread.join()
        self.assertEqual(got, [True])
        theirs.release()

    def take_over(self):
        theirs = self.client.lock("name", timeout=30)
        self.assertTrue(theirs.acquire(blocking=False))
        released = []

        def release():
            released.append(time.monotonic())
            self.client.delete("name")

        timer = threading.Timer(0.3, release)
        timer.start()
        self.assertEqual(run(self.store, "name", "-w", "20"), DONE)
        took = time.monotonic() - released[0]
        timer.join()
        self.assertGreater(took, 0)
        return took

    def test_ours_gets_theirs_soon_after_its_release(self):
        took = TAKEN_OVER_S
        for _ in range(5):
            if took >= TAKEN_OVER_S:
                took = self.take_over()
        self.assertLess(took, TAKEN_OVER_S)

    def test_ours_gets_theirs_when_its_lease_ends(self):
        theirs = self.client.lock("name", timeout=0.3)
        self.assertTrue(theirs.acquire(blocking=False))
        self.assertEqual(run(self.store, "name", "-n"), REFUSED)
        self.assertEqual(run(self.store, "name", "-w", "20"), DONE)
        with self.assertRaises(LockNotOwnedError):
            theirs.release()

    def test_ours_outlives_its_lease_and_is_never_theirs(self):
        lease = 0.5 * slowness()
        ours = Holder(self.store, "name", "--ttl", str(lease))
        theirs = self.client.lock("name", timeout=30, sleep=0.02)
        self.assertFalse(theirs.acquire(blocking_timeout=3 * lease))
        self.assertEqual(ours.end(), DONE)

    def test_theirs_notices_that_we_broke_it(self):
        theirs = self.client.lock("name", timeout=30)
        self.assertTrue(theirs.acquire(blocking=False))
        subprocess.run(
            [HOLDFAST, "--store", self.store.url, "lock", "break", "name"],
            check=True, timeout=60)
        ours = Holder(self.store, "name")
        with self.assertRaises(LockNotOwnedError):
            theirs.extend(10)
        with self.assertRaises(LockNotOwnedError):
            theirs.release()
        self.assertEqual(ours.end(), DONE)

    def test_ours_notices_that_they_took_it(self):
        ours = Holder(self.store, "name", "--ttl", "1", "--on-lost", "kill")
        self.client.delete("name")
        theirs = self.client.lock("name", timeout=30)
        self.assertTrue(theirs.acquire(blocking=False))
        ours.process.wait(timeout=10)
        ours.process.communicate()
        self.assertEqual(ours.process.returncode, LOST)
        self.assertTrue(theirs.owned())
        theirs.release()

    def test_both_sides_count_without_a_miss(self):
        path = os.path.join(self.directory.name, "count")
        with open(path, "w", encoding="ascii") as file:
            file.write("0\n")

        def add_theirs():
            client = redis.Redis(unix_socket_path=self.store.path)
            for _ in range(10):
                with client.lock("name", timeout=30, sleep=0.005):
                    with open(path, encoding="ascii") as file:
                        number = int(file.read())
                    with open(path, "w", encoding="ascii") as file:
                        file.write(f"{number + 1}\n")
            client.close()

        codes = []

        def add_ours():
            for _ in range(10):
                codes.append(run(
                    self.store, "name", command=(
                        "sh", "-c", 'read n <"$0"; echo $((n + 1)) >"$0"',
                        path)))

        threads = [threading.Thread(target=target)
                   for target in (add_theirs, add_ours) * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [DONE] * 30)
        with open(path, encoding="ascii") as file:
            self.assertEqual(int(file.read()), 60)


if __name__ == "__main__":
    HOLDFAST, SERVER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
