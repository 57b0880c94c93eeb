#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet.py - threads of Redisson and of ours on one lock of each kind.

Usage: fleet.py SERVER FLEET_REDISSON PEERS [--seconds N] [--threads N]
                [--kinds KIND,...] [--least SHARE]

PEERS is the output of tools/peers.sh. Fails if an update was lost, if a reader
saw a writer, or if a side had less than --least, a fifth, of the acquisitions.
Prints the shares, and how long after the release of one side the other one held
the lock.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from server import Server  # noqa: E402

KINDS = "lock,fenced,fair,readwrite,semaphore,permit,latch"


def percentile(values, part):
    return values[min(len(values) - 1, int(len(values) * part))]


def describe(values):
    if not values:
        return "none"
    values = sorted(values)
    return (f"{len(values)}, p50 {percentile(values, 0.5)} us, "
            f"p99 {percentile(values, 0.99)} us")


class Side:
    """One process with its threads; it waits for the start."""

    def __init__(self, command, server, kind, options):
        self.process = subprocess.Popen(
            [*command, str(server.port), kind, f"{kind} {{x}}",
             str(int(options.seconds * 1000)), str(options.threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.written = self.read = 0
        self.handovers = []

    def await_ready(self):
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{self.process.args[0]} did not start")

    def start(self):
        self.process.stdin.write("start\n")
        self.process.stdin.flush()

    def finish(self, seconds):
        output = self.process.communicate(timeout=seconds + 60)[0]
        if self.process.returncode != 0:
            raise RuntimeError(f"{self.process.args[0]} failed")
        first, *rest = output.splitlines()
        self.written, self.read = map(int, first.split())
        self.handovers = [int(line) for line in rest]

    @property
    def held(self):
        return self.written + self.read

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def run(options, server, kind):
    """The two sides, after one kind of lock; what is wrong, if anything."""
    java = os.path.join(options.peers, "java")
    classes = f"{java}:{java}/lib/*"
    server.ask("FLUSHALL")
    server.ask("SET", "counter", "0 none 0")
    server.ask("SET", "copy", "0")
    if kind in ("permit", "semaphore"):
        server.ask("SET", f"{kind} {{x}}", "1")
    sides = []
    try:
        sides.append(Side([options.fleet], server, kind, options))
        sides.append(Side(["java", "-cp", classes, "Fleet"], server, kind,
                          options))
        for side in sides:
            side.await_ready()
        for side in sides:
            side.start()
        began = time.monotonic()
        for side in sides:
            side.finish(options.seconds)
        took = time.monotonic() - began
    finally:
        for side in sides:
            side.end()
    ours, java = sides
    total = ours.held + java.held
    lost = ours.written + java.written - int(
        server.ask("GET", "counter").split()[0])
    print(f"{kind:10} {total / took:7.0f}/s  "
          f"C {ours.held / total:.0%}  Java {java.held / total:.0%}  "
          f"lost {lost}\n"
          f"           C -> Java {describe(java.handovers)}\n"
          f"           Java -> C {describe(ours.handovers)}", flush=True)
    if lost != 0:
        return f"{kind}: {lost} updates were lost"
    if min(ours.held, java.held) < total * options.least:
        return f"{kind}: a side had less than {options.least:.0%}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("fleet")
    parser.add_argument("peers")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=10)
    parser.add_argument("--kinds", default=KINDS)
    parser.add_argument("--least", type=float, default=0.2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.server, directory)
        try:
            wrong = [run(options, server, kind)
                     for kind in options.kinds.split(",")]
        finally:
            server.close()
    sys.exit("\n".join(filter(None, wrong)) or 0)


if __name__ == "__main__":
    main()
