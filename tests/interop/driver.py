# SPDX-License-Identifier: Apache-2.0
"""driver.py - a lock library in a process of its own, which obeys commands.

The first word of a driver's command line, after those of libraries(), is the
server's port. It prints "ready VERSION", then a line for each that it reads:

    acquire NAME WAIT_MS LEASE_MS   held, refused
    keep MS                         kept, lost: it holds the lock that long and
                                    renews it
    release                         released, lost, unknown: it does not say
    break NAME                      broken, free: takes a lock from its holder
    count NAME COUNTER LAST HOLD_US PAUSE_US
                                    how often it has incremented the unprotected
                                    COUNTER until that was LAST: reads it under
                                    the lock, holds, writes, releases, pauses
    pairs NAME MS                   how long an acquire and a release take, ns,
                                    the mean of that time; not ours

or "error TEXT". A lock that was acquired and not released remains so. Libraries
that poll do so each 20 ms, or redis-py each POLL_MS.

Names begin with "mutex:0:": redis-semaphore puts "mutex:" before a name, and
rueidislock PREFIX and the number of a key.
"""

import importlib.util
import os
import select
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVERS = os.path.join(HERE, "drivers")
OURS = "holdfast"
PREFIX = "mutex:0:"
START_S = 120
REPLY_S = 60


class Library:
    """The drivers of a library, and of ours that shares locks with it."""

    def __init__(self, name, command, needs, kind=(), ours="plain"):
        self.name = name
        self.command = command  # before the port
        self.needs = needs  # the file that tools/peers.sh makes
        self.kind = kind  # after the port
        self.ours = ours

    def exists(self):
        return os.path.exists(self.needs)


def libraries(peers):
    """Those that tools/peers.sh has put into the folder, and those it has
    not."""
    def in_peers(*path):
        return os.path.join(peers, *path)

    def go(name, program, *kind, ours="plain"):
        path = in_peers("bin", program)
        return Library(name, [path], path, kind, ours)

    def node(name):
        path = in_peers("node", name + ".mjs")
        return Library(name, ["node", path], path)

    def java(kind):
        folder = in_peers("java")
        return Library(
            "redisson " + kind,
            ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp",
             f"{folder}:{folder}/lib/*", "Driver"],
            os.path.join(folder, "Driver.class"), [kind], kind)

    python = in_peers("python", "redis")
    installed = importlib.util.find_spec("redis")
    if installed and not os.path.exists(python):
        python = installed.origin
    return [
        Library("redis-py",
                ["env", "PYTHONPATH=" + in_peers("python"), sys.executable,
                 "-B", os.path.join(DRIVERS, "redis_py.py")], python),
        go("redsync", "redsync"), go("redislock", "redislock"),
        go("rueidislock", "rueidislock", "1"),
        go("rueidislock, 3 keys", "rueidislock", "2", ours="three"),
        node("node-redlock"), node("redis-semaphore"),
        Library("rslock", [in_peers("bin", "driver_rslock")],
                in_peers("bin", "driver_rslock")),
        java("lock"), java("fair"), java("fenced"), java("write")]


class Failure(Exception):
    """A driver did what it must not."""


class Driver:
    """A process of a library. send() and receive() one reply each."""

    def __init__(self, name, command, server, kind=()):
        self.name = name
        self.arguments = (name, command, server, kind)
        self.process = subprocess.Popen(
            [*command, str(server.port), *kind], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, bufsize=0)
        self.version = None

    def await_ready(self):
        word, self.version = self.receive(START_S).split()
        if word != "ready":
            raise Failure(f"{self.name} did not start")

    def send(self, *words):
        self.process.stdin.write(
            (" ".join(map(str, words)) + "\n").encode())

    def receive(self, seconds=REPLY_S):
        """The reply; an empty one if there is none yet in that time."""
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            if seconds >= REPLY_S:
                raise Failure(f"{self.name} does not reply")
            return ""
        line = self.process.stdout.readline().decode().rstrip("\n")
        if not line:
            raise Failure(f"{self.name} has ended")
        if line.startswith("error "):
            raise Failure(f"{self.name}: {line[6:]}")
        return line

    def ask(self, *words):
        self.send(*words)
        return self.receive()

    def signal(self, number):
        self.process.send_signal(number)

    def die(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        other = Driver(*self.arguments)
        other.await_ready()
        return other

    def end(self):
        """However it is."""
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.die()
        self.process.stdin.close()
        self.process.stdout.close()


def now_ms():
    return time.monotonic() * 1000
