#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet.py - several lock libraries, one process each, on one lock.

Usage: fleet.py SERVER FLEET_HOLDFAST [--peers FOLDER] [--seconds N]

Each holds the lock for 10 ms at a time, as often as it gets it, and increments
an unprotected counter. Prints how often each held it. Fails if an update was
lost, or if ours held it less often than half of the mean. FOLDER is the output
of tools/peers.sh; without it only redis-py and ours take part.

All use one key: redis-semaphore puts "mutex:" before a name, and rueidislock
"PREFIX:0:" if it is to use one key.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time

LOCK = "mutex:0:fleet"
COUNTER = "counter"
HERE = os.path.dirname(os.path.abspath(__file__))


def members(options):
    """Name and command of each."""
    yield "holdfast", [options.holdfast]
    yield "redis-py", [sys.executable, "-B",
                       os.path.join(HERE, "fleet_redis_py.py")]
    if options.peers:
        node = os.path.join(options.peers, "node")
        go = os.path.join(options.peers, "bin")
        yield "redsync", [os.path.join(go, "redsync")]
        yield "node-redlock", ["node", os.path.join(node, "redlock.mjs")]
        yield "redis-semaphore", ["node", os.path.join(node, "semaphore.mjs")]
        yield "rueidislock", [os.path.join(go, "rueidislock")]


class Server:
    """A server of our own on a free port of 127.0.0.1."""

    def __init__(self, program, directory):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), "--bind", "127.0.0.1",
             "--save", "", "--appendonly", "no", "--dir", directory],
            stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                if self.ask("PING") == b"+PONG":
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise RuntimeError(f"{program} does not reply")

    def ask(self, *words):
        """A command's reply without its line end; of a string the text."""
        parts = [f"*{len(words)}\r\n"]
        parts += [f"${len(word)}\r\n{word}\r\n" for word in words]
        with socket.create_connection(("127.0.0.1", self.port)) as link:
            link.sendall("".join(parts).encode())
            lines = link.makefile("rb")
            first = lines.readline().rstrip(b"\r\n")
            return lines.readline().rstrip() if first[:1] == b"$" else first

    def close(self):
        self.process.kill()
        self.process.wait()


class Member:
    """One process; it waits for the start."""

    def __init__(self, name, command, server, milliseconds):
        self.name = name
        self.process = subprocess.Popen(
            [*command, str(server.port), LOCK, COUNTER, str(milliseconds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def await_ready(self):
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{self.name} did not start")

    def start(self):
        self.process.stdin.write("start\n")
        self.process.stdin.flush()

    def held(self):
        output = self.process.communicate(timeout=120)[0]
        if self.process.returncode != 0:
            raise RuntimeError(f"{self.name} failed")
        return int(output)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def run(options, server):
    """How often each held the lock."""
    server.ask("SET", COUNTER, "0")
    fleet = []
    try:
        for name, command in members(options):
            fleet.append(Member(name, command, server,
                                int(options.seconds * 1000)))
        for member in fleet:
            member.await_ready()
        for member in fleet:
            member.start()
        return {member.name: member.held() for member in fleet}
    finally:
        for member in fleet:
            member.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("holdfast")
    parser.add_argument("--peers")
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.server, directory)
        try:
            held = run(options, server)
            counted = int(server.ask("GET", COUNTER))
        finally:
            server.close()
    total = sum(held.values())
    mean = total / len(held)
    for name, times in held.items():
        print(f"{name:16} {times:6}  {times / mean:5.2f} of the mean")
    print(f"{'lost updates':16} {total - counted:6}")
    if counted != total:
        sys.exit("updates were lost")
    if held["holdfast"] < mean / 2:
        sys.exit("ours held the lock less often than half of the mean")


if __name__ == "__main__":
    main()
