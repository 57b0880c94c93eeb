#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""redis_py.py PORT - redis-py's Lock, as driver.py has the protocol.

POLL_MS in the environment: how often it polls."""

import os
import sys
import time

import redis
from redis.exceptions import LockError

POLL_S = int(os.environ.get("POLL_MS", "20")) / 1000


class Driver:
    def __init__(self, port):
        self.client = redis.Redis(port=int(port))
        self.client.ping()
        self.lock = None
        self.lease = 0

    def acquire(self, name, wait_ms, lease_ms):
        self.lease = int(lease_ms) / 1000
        self.lock = self.client.lock(name, timeout=self.lease, sleep=POLL_S)
        wait = int(wait_ms) / 1000
        held = self.lock.acquire(blocking=wait > 0,
                                 blocking_timeout=wait or None)
        return "held" if held else "refused"

    def keep(self, milliseconds):
        end = time.monotonic() + int(milliseconds) / 1000
        while time.monotonic() < end:
            time.sleep(min(self.lease / 3, max(0, end - time.monotonic())))
            try:
                self.lock.extend(self.lease, replace_ttl=True)
            except LockError:
                return "lost"
        return "kept"

    def release(self):
        try:
            self.lock.release()
        except LockError:
            return "lost"
        return "released"

    def break_(self, name):
        return "broken" if self.client.delete(name) else "free"

    def count(self, name, counter, last, hold_us, pause_us):
        times = number = 0
        last = int(last)
        while number < last:
            if self.acquire(name, 1000, 30000) == "refused":
                continue
            number = int(self.client.get(counter))
            if number < last:
                time.sleep(int(hold_us) / 1e6)
                self.client.set(counter, number + 1)
                times += 1
            if self.release() != "released":
                return "error lost"
            time.sleep(int(pause_us) / 1e6)
        return times

    def pairs(self, name, milliseconds):
        pairs, began = 0, time.monotonic()
        while time.monotonic() < began + int(milliseconds) / 1000:
            self.acquire(name, 1000, 30000)
            self.release()
            pairs += 1
        return round((time.monotonic() - began) * 1e9 / pairs)

    def obey(self, line):
        verb, *words = line.split()
        return getattr(self, "break_" if verb == "break" else verb)(*words)

    def run(self, version):
        print("ready", version, flush=True)
        for line in sys.stdin:
            print(self.obey(line), flush=True)


if __name__ == "__main__":
    Driver(sys.argv[1]).run(redis.__version__)
