#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faulty.py PORT WITHOUT - the driver of a lock that lacks one part, to see
that the cases of libraries.py find it."""

import os
import socket
import sys
import time

POLL_S = 0.02


class Faulty:
    def __init__(self, port, without):
        self.link = socket.create_connection(("127.0.0.1", int(port)))
        self.lines = self.link.makefile("rb")
        self.without = without
        self.name = self.owner = ""
        self.lease_ms = 0

    def command(self, *words):
        parts = [f"*{len(words)}\r\n"]
        parts += [f"${len(str(word))}\r\n{word}\r\n" for word in words]
        self.link.sendall("".join(parts).encode())
        first = self.lines.readline().rstrip().decode()
        return (self.lines.readline().rstrip().decode()
                if first[0] == "$" and first != "$-1" else first)

    def set(self):
        words = ["SET", self.name, self.owner]
        if self.without != "nx":
            words.append("NX")
        if self.without != "lease":
            half = 2 if self.without == "whole-lease" else 1
            words += ["PX", self.lease_ms // half]
        return self.command(*words) == "+OK"

    def acquire(self, name, wait_ms, lease_ms):
        self.name, self.owner = name, os.urandom(8).hex()
        self.lease_ms = int(lease_ms)
        end = time.monotonic() + int(wait_ms) / 1000
        while not self.set():
            left = end - time.monotonic()
            if left <= 0:
                return "refused"
            time.sleep(left + 1 if self.without == "wait"
                       else min(POLL_S, left))
            if self.without == "wait":
                return "refused"
        return "held"

    def is_own(self, part):
        return (self.without == part or
                self.command("GET", self.name) == self.owner)

    def keep(self, milliseconds):
        end = time.monotonic() + int(milliseconds) / 1000
        while time.monotonic() < end:
            time.sleep(min(self.lease_ms / 3000,
                           max(0, end - time.monotonic())))
            if self.without == "renewal":
                continue
            if not self.is_own("own-renewal"):
                return "lost"
            self.command("PEXPIRE", self.name, self.lease_ms)
        return "kept"

    def release(self):
        if not self.is_own("own-release"):
            return "lost"
        self.command("DEL", self.name)
        return "unknown"

    def break_(self, name):
        return "broken" if self.command("DEL", name) == ":1" else "free"

    def count(self, name, counter, last, hold_us, pause_us):
        times = number = 0
        last = int(last)
        while number < last:
            if self.acquire(name, 1000, 30000) == "refused":
                continue
            number = int(self.command("GET", counter))
            if number < last:
                time.sleep(int(hold_us) / 1e6)
                self.command("SET", counter, number + 1)
                times += 1
            self.release()
            time.sleep(int(pause_us) / 1e6)
        return times

    def run(self):
        print("ready", "0", flush=True)
        for line in sys.stdin:
            verb, *words = line.split()
            print(getattr(self, "break_" if verb == "break" else verb)(*words),
                  flush=True)


if __name__ == "__main__":
    Faulty(*sys.argv[1:]).run()
