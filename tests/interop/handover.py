#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""handover.py - one lock between a process on the store and others on a server
of it.

Usage: handover.py HOLDFAST HANDOVER_WORKER PEERS [--count N] [--hold-us N]

Starts `holdfast serve` on a store. A pair of processes then contends for a
lock: of ours, in process or through the server, or of redis-py, which polls
each millisecond. Prints how long after the release of one the other one held
the lock. Fails if both held it at once.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from server import Server

NAME = "handover"
WORKER_S = 120


def ready(command, **more):
    process = subprocess.Popen(command, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, **more)
    if process.stdout.readline() != "ready\n":
        raise RuntimeError(f"{command[0]} did not start")
    return process


def polling_worker(port, count, hold_us):
    """The body of the redis-py process; see handover_worker.c."""
    import redis
    lock = redis.Redis(port=int(port)).lock(NAME, timeout=30, sleep=0.001)
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(int(count)):
        lock.acquire()
        acquired = time.monotonic_ns()
        time.sleep(int(hold_us) / 1e6)
        released = time.monotonic_ns()
        lock.release()
        print(acquired, released)


def start(kind, server, store, options):
    counts = [str(options.count), str(options.hold_us)]
    if kind == "redis-py":
        return ready([sys.executable, "-B", __file__, "--poll",
                      str(server.port), *counts],
                     env={**os.environ, "PYTHONPATH": os.path.join(
                         options.peers, "python")})
    url = store if kind == "in process" else f"redis://127.0.0.1:{server.port}"
    return ready([options.worker, url, NAME, *counts])


def contend(kinds, server, store, options):
    """(acquired, released, who) in order of time."""
    workers = [start(kind, server, store, options) for kind in kinds]
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    holds = []
    for number, worker in enumerate(workers):
        for line in worker.communicate(timeout=WORKER_S)[0].splitlines():
            holds.append((*map(int, line.split()), number))
        if worker.returncode != 0:
            raise RuntimeError(f"{kinds[number]}: failed")
    return sorted(holds)


def show(kinds, holds):
    """false: both held it at once."""
    apart = all(before[1] <= after[0]
                for before, after in zip(holds, holds[1:]))
    for who in (0, 1):
        took = sorted(after[0] - before[1]
                      for before, after in zip(holds, holds[1:])
                      if before[2] == who and after[2] != who)
        text = "none"
        if took:
            text = (f"{len(took):6}  p50 {took[len(took) // 2] / 1000:7.0f} us"
                    f"  p99 {took[len(took) * 99 // 100] / 1000:7.0f} us")
        print(f"{kinds[who]:15} -> {kinds[1 - who]:15} {text}", flush=True)
    return apart


def main():
    if sys.argv[1:2] == ["--poll"]:
        return polling_worker(*sys.argv[2:])
    parser = argparse.ArgumentParser()
    parser.add_argument("holdfast")
    parser.add_argument("worker")
    parser.add_argument("peers")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--hold-us", type=int, default=1000)
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.holdfast, directory)
        store = f"volatile:{directory}/store"
        try:
            for kinds in (("in process", "in process"),
                          ("in process", "through server"),
                          ("through server", "through server"),
                          ("in process", "redis-py")):
                if not show(kinds, contend(kinds, server, store, options)):
                    wrong.append(" and ".join(kinds) + " held it at once")
        finally:
            server.close()
    return "\n".join(wrong) or 0


if __name__ == "__main__":
    sys.exit(main())
