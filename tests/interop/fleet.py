#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet.py - several lock libraries on one lock.

Usage: fleet.py SERVER DRIVER_HOLDFAST [--peers FOLDER] [--libraries A,B,...]
                [--each N] [--count N] [--hold-us N] [--pause-us N] [--alone N]
       fleet.py SERVER DRIVER_HOLDFAST --shares SECONDS

Each has N processes, which together increment an unprotected counter up to
--count: each holds the lock for --hold-us, releases it, and pauses for
--pause-us, as long as the others wait between two attempts; without a pause,
one that asks again at once keeps the others out. Prints how often each library
held the lock. Fails if an update was lost, or if a library held it more often
than three times the mean, or less often than a third of it. FOLDER is the
output of tools/peers.sh; without it only redis-py and ours take part. Redisson
has another layout: redisson/fleet.py. At the end faulty locks must lose some.

--alone: afterwards only ours continue, without pauses, for N seconds. Prints
how many scripts an increment takes, and fails if releases do not
hand over again, which takes 2, within 10 s.

--shares: a table instead, of ours and redis-py only: how often each side held
the lock in that time, and its share against that of its processes, for several
numbers of processes, holds, pauses, and times between two polls of redis-py.
"""

import argparse
import itertools
import os
import re
import socket
import sys
import tempfile
import time

from driver import HERE, OURS, PREFIX, Driver, Failure, libraries
from server import Server

LOCK = PREFIX + "fleet"
COUNTER = "counter"
WITHIN = 3  # times the mean, and its part
STEP = 500
HAND_OVER = 2.1  # scripts an increment, a renewal included
HAND_OVER_WITHIN = 10  # s
FLEET_S = 280
FLEETS = [(1, 1), (3, 3), (3, 1), (1, 3)]  # processes of ours, of redis-py
HOLDS_MS = [1, 3, 10]
PAUSES_MS = [0, 3]
POLLS_MS = [10, 50, 100]
NO_END = 10**9
FAULTY = [sys.executable, "-B", os.path.join(HERE, "faulty.py")]


def members(options, server):
    commands = [(OURS, [options.holdfast], ["plain"])]
    commands += [(one.name, one.command, one.kind)
                 for one in libraries(options.peers or "")
                 if one.ours == "plain" and one.exists()]
    return [Driver(name, command, server, kind)
            for name, command, kind in commands
            if not options.libraries or name in options.libraries
            for _ in range(options.each)]


def count(fleet, last, hold_us, pause_us):
    """How often each library held the lock; and how long all took, s."""
    held = {}
    for one in fleet:
        one.send("count", LOCK, COUNTER, last, hold_us, pause_us)
    began = time.monotonic()
    for one in fleet:
        held[one.name] = held.get(one.name, 0) + int(one.receive(FLEET_S))
    return held, time.monotonic() - began


def scripts_run(server):
    """How many scripts clients have called."""
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.sendall(b"INFO commandstats\r\nQUIT\r\n")
        text = link.makefile("rb").read().decode()
    found = re.search(r"cmdstat_evalsha:calls=(\d+)", text)
    return int(found.group(1)) if found else 0


def alone(fleet, server, options):
    """When each STEP of increments began, s, and scripts an increment."""
    ours = [one for one in fleet if one.name == OURS]
    last = int(server.ask("GET", COUNTER))
    began = time.monotonic()
    steps = []
    while not steps or steps[-1][0] < options.alone:
        since, before = time.monotonic() - began, scripts_run(server)
        last += STEP
        count(ours, last, options.hold_us, 0)
        steps.append((since, (scripts_run(server) - before) / STEP))
    return steps


def complaints(held, lost, steps):
    mean = sum(held.values()) / len(held)
    if lost:
        yield f"{lost} updates were lost"
    for name, times in held.items():
        if not mean / WITHIN <= times <= mean * WITHIN:
            yield f"{name} held the lock {times / mean:.2f} times the mean"
    if any(since >= HAND_OVER_WITHIN and scripts > HAND_OVER
           for since, scripts in steps):
        yield "alone again, releases did not hand over"


def show(fleet, held, took, lost):
    mean = sum(held.values()) / len(held)
    versions = {one.name: one.version for one in fleet}
    for name, times in held.items():
        print(f"{name:16} {versions[name]:14} {times:6}  "
              f"{times / mean:5.2f} of the mean")
    print(f"{sum(held.values())} increments in {took:.1f} s, "
          f"{lost} lost", flush=True)


def run(options, server):
    server.ask("SET", COUNTER, "0")
    fleet = members(options, server)
    steps = []
    try:
        for one in fleet:
            one.await_ready()
        held, took = count(fleet, options.count, options.hold_us,
                           options.pause_us)
        lost = sum(held.values()) - int(server.ask("GET", COUNTER))
        show(fleet, held, took, lost)
        if options.alone:
            steps = alone(fleet, server, options)
            print("alone, scripts an increment:",
                  *(f"{scripts:.2f}" for _, scripts in steps))
        return list(complaints(held, lost, steps))
    finally:
        for one in fleet:
            one.end()


def prove(options, server):
    """A fleet whose locks exclude no one must lose updates."""
    server.ask("SET", COUNTER, "0")
    fleet = [Driver("faulty", FAULTY, server, ["nx"]) for _ in range(4)]
    try:
        for one in fleet:
            one.await_ready()
        held, _ = count(fleet, 200, options.hold_us, 0)
    finally:
        for one in fleet:
            one.end()
    lost = sum(held.values()) - int(server.ask("GET", COUNTER))
    print(f"faulty locks: {lost} lost")
    return [] if lost > 0 else ["faulty locks lost no update: a fleet finds "
                                "nothing"]


def hold_for(fleet, server, seconds, hold_us, pause_us):
    """How often each library held the lock in that time."""
    server.ask("SET", COUNTER, "0")
    held = {}
    for one in fleet:
        one.await_ready()
    for one in reversed(fleet):  # redis-py first, so that it is found
        one.send("count", LOCK, COUNTER, NO_END, hold_us, pause_us)
        time.sleep(0.05)
    time.sleep(seconds)
    while fleet:
        for _ in range(100):  # a holder may overwrite it
            server.ask("SET", COUNTER, str(NO_END))
        for one in list(fleet):
            times = one.receive(0)
            if times:
                held[one.name] = held.get(one.name, 0) + int(times)
                fleet.remove(one)
    return held


def show_share(options, server, ours, theirs, *times_ms):
    hold_ms, pause_ms, poll_ms = times_ms
    os.environ["POLL_MS"] = str(poll_ms)
    other = libraries(options.peers or "")[0]
    fleet = [Driver(OURS, [options.holdfast], server, ["plain"])
             for _ in range(ours)]
    fleet += [Driver(other.name, other.command, server) for _ in range(theirs)]
    try:
        held = hold_for(list(fleet), server, options.shares, hold_ms * 1000,
                        pause_ms * 1000)
    finally:
        for one in fleet:
            one.end()
    sides = [(held[OURS], ours), (held[other.name], theirs)]
    both = sum(held.values())
    print(f"{ours}+{theirs}  hold {hold_ms:2}  pause {pause_ms}  "
          f"poll {poll_ms:3} ms: {both / options.shares:6.1f}/s ",
          *(f"{times:6} {times * (ours + theirs) / (both * each):5.2f}"
            for times, each in sides), flush=True)


def show_shares(options, server):
    print("ours, redis-py: times held, share against a fair one")
    for (ours, theirs), *times_ms in itertools.product(
            FLEETS, HOLDS_MS, PAUSES_MS, POLLS_MS):
        show_share(options, server, ours, theirs, *times_ms)
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("holdfast")
    parser.add_argument("--peers")
    parser.add_argument("--libraries", type=lambda text: text.split(","))
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--hold-us", type=int, default=1000)
    parser.add_argument("--pause-us", type=int, default=20000)
    parser.add_argument("--alone", type=int, default=0)
    parser.add_argument("--shares", type=float)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.server, directory)
        try:
            if options.shares:
                failed = show_shares(options, server)
            else:
                failed = run(options, server) + prove(options, server)
        except Failure as failure:
            failed = [str(failure)]
        finally:
            server.close()
    sys.exit("\n".join(failed) or 0)


if __name__ == "__main__":
    main()
