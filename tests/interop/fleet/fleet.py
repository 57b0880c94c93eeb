#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet.py - several lock libraries, one process each, on one lock.

Usage: fleet.py SERVER FLEET_HOLDFAST [--peers FOLDER] [--libraries A,B,...]
                [--each N] [--seconds N] [--shares] [--alone N]

Each holds the lock for 10 ms at a time, as often as it gets it, and increments
an unprotected counter. Prints how often each library held it, with N processes
of each. Fails if an update was lost, or if ours held it less often than half of
the mean. FOLDER is the output of tools/peers.sh; without it only redis-py and
ours take part.

--shares: fails also if ours held it more often than twice the mean, or another
less often than 0.3 of it.

--alone: afterwards only ours continue for N seconds. Prints the requests that
a pair of them costs in each second, and fails if releases do not hand over
again, which is 2 requests a pair, within 10 s.

All use one key: redis-semaphore puts "mutex:" before a name, and rueidislock
"PREFIX:0:" if it is to use one key.
"""

import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

LOCK = "mutex:0:fleet"
COUNTER = "counter"
OURS = "holdfast"
LEAST = 0.3  # of the mean
HAND_OVER = 2.1  # requests a pair, a renewal included
HAND_OVER_WITHIN = 10
SLACK = 5  # s: the others end after their last turn
HERE = os.path.dirname(os.path.abspath(__file__))


def members(options):
    """Name and command of each library."""
    all_of_them = [
        (OURS, [options.holdfast]),
        ("redis-py", [sys.executable, "-B",
                      os.path.join(HERE, "fleet_redis_py.py")])]
    if options.peers:
        node = os.path.join(options.peers, "node")
        go = os.path.join(options.peers, "bin")
        all_of_them += [
            ("redsync", [os.path.join(go, "redsync")]),
            ("node-redlock", ["node", os.path.join(node, "redlock.mjs")]),
            ("redis-semaphore", ["node", os.path.join(node, "semaphore.mjs")]),
            ("rueidislock", [os.path.join(go, "rueidislock")])]
    return [one for one in all_of_them
            if not options.libraries or one[0] in options.libraries]


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

    def __init__(self, name, command, server, seconds, alone):
        self.name = name
        times = [str(int(seconds * 1000))]
        if name == OURS:
            times.append(str((alone + SLACK) * 1000 if alone else 0))
        self.process = subprocess.Popen(
            [*command, str(server.port), LOCK, COUNTER, *times],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def await_ready(self):
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{self.name} did not start")

    def start(self):
        self.process.stdin.write("start\n")
        self.process.stdin.flush()

    def held(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} failed")
        return int(line)

    def await_end(self):
        if self.process.wait(timeout=120) != 0:
            raise RuntimeError(f"{self.name} failed")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def scripts_run(server):
    """How many scripts clients have called."""
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.sendall(b"INFO commandstats\r\nQUIT\r\n")
        text = link.makefile("rb").read().decode()
    found = re.search(r"cmdstat_evalsha:calls=(\d+)", text)
    return int(found.group(1)) if found else 0


def requests_alone(server, seconds):
    """Of each second: requests a pair; all of ours are scripts."""
    requests = []
    for _ in range(seconds):
        scripts, pairs = scripts_run(server), int(server.ask("GET", COUNTER))
        time.sleep(1)
        scripts = scripts_run(server) - scripts
        pairs = int(server.ask("GET", COUNTER)) - pairs
        requests.append(scripts / pairs if pairs else float("inf"))
    return requests


def run(options, server):
    """How often each library held the lock, all of them and then ours alone;
    and the requests a pair of ours alone."""
    server.ask("SET", COUNTER, "0")
    fleet = []
    held, alone, requests = {}, 0, []
    try:
        for name, command in members(options):
            fleet += [Member(name, command, server, options.seconds,
                             options.alone) for _ in range(options.each)]
        for member in fleet:
            member.await_ready()
        for member in fleet:
            member.start()
        for member in fleet:
            held[member.name] = held.get(member.name, 0) + member.held()
        if options.alone:
            requests = requests_alone(server, options.alone)
        for member in fleet:
            if member.name == OURS:
                alone += member.held()
            member.await_end()
        return held, alone, requests
    finally:
        for member in fleet:
            member.end()


def complaints(options, held, lost, requests):
    mean = sum(held.values()) / len(held)
    if lost:
        yield "updates were lost"
    if held[OURS] < mean / 2:
        yield "ours held the lock less often than half of the mean"
    if options.shares and held[OURS] > mean * 2:
        yield "ours held the lock more often than twice the mean"
    for name, times in held.items():
        if options.shares and times < mean * LEAST:
            yield f"{name} held the lock less often than {LEAST} of the mean"
    if max(requests[HAND_OVER_WITHIN:], default=0) > HAND_OVER:
        yield "alone again, releases did not hand over"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("holdfast")
    parser.add_argument("--peers")
    parser.add_argument("--libraries", type=lambda text: text.split(","))
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--shares", action="store_true")
    parser.add_argument("--alone", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.server, directory)
        try:
            held, alone, requests = run(options, server)
            counted = int(server.ask("GET", COUNTER))
        finally:
            server.close()
    mean = sum(held.values()) / len(held)
    lost = sum(held.values()) + alone - counted
    for name, times in held.items():
        print(f"{name:16} {times:6}  {times / mean:5.2f} of the mean")
    print(f"{'lost updates':16} {lost:6}")
    if requests:
        print("alone, requests a pair in each second:",
              *(f"{one:.2f}" for one in requests))
    failed = list(complaints(options, held, lost, requests))
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
