#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clients.py - the same calls of each client library on two servers.

Usage: clients.py REDIS_SERVER HOLDFAST CALLS_HIREDIS PEERS
                  [--clients A,B,...] [--show]

PEERS is the output of tools/peers.sh. Each library has a program in drivers/
which makes the same calls and prints a line for each group of them. It runs on
a redis-server and on `holdfast serve`, in every protocol that it speaks; the
outputs must be equal. --show prints them. First come the programs of the
articles that began the project.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
import time

from driver import DRIVERS
from server import Server

LIMIT_S = 150
STEPS = """connect string binary large number bits expiry keys hash list set
zset sort scan pipeline multi script pubsub block block_zset error
parallel""".split()
REDISSON_STEPS = """string large number bits expiry keys hash list set zset sort
scan pipeline multi script pubsub block block_zset cache lock limiter semaphore
latch error parallel""".split()
CALLS = os.path.join(DRIVERS, "calls.txt")
BENCHMARKS = ("PING_INLINE,PING_MBULK,SET,GET,INCR,LPUSH,RPUSH,LPOP,RPOP,SADD,"
              "HSET,SPOP,ZADD,ZPOPMIN,LRANGE_100,MSET")


class Client:
    """A library's program: its command line before the port."""

    def __init__(self, name, command, needs=None, protocols=("",),
                 steps=STEPS, stdin=None):
        self.name = name
        self.command = command
        self.needs = needs
        self.protocols = protocols
        self.steps = steps
        self.stdin = stdin

    def exists(self):
        return not self.needs or os.path.exists(self.needs)

    def run(self, server, protocol):
        """The lines that it prints."""
        words = [word.replace("PORT", str(server.port))
                 for word in self.command] + protocol.split()
        with open(self.stdin or os.devnull, encoding="utf-8") as stdin:
            done = subprocess.run(
                ["timeout", "-k", "1", str(LIMIT_S), *words], stdin=stdin,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                encoding="utf-8", errors="replace")
        lines = done.stdout.splitlines()
        if self.steps is None:  # a benchmark: which, not how fast
            lines = [line.split(",")[0] for line in lines]
        return lines + [f"exit code {done.returncode}"] * (done.returncode != 0)

    def missing(self, lines):
        """Steps that it has not made."""
        made = {line.split(" ")[0] for line in lines}
        return [step for step in self.steps or () if step not in made]


def clients(hiredis, peers):
    both = ("2", "3")

    def in_peers(*path):
        return os.path.join(peers, *path)

    def node(name, protocols):
        path = in_peers("node", f"calls-{name}.mjs")
        return Client(name, ["node", path, "PORT"], path, protocols)

    def java(name, steps=STEPS):
        folder = in_peers("java")
        program = "Calls" + name
        return Client(
            name, ["java", "-XX:TieredStopAtLevel=1", "-cp",
                   f"{folder}:{folder}/lib/*", program, "PORT"],
            in_peers("java", program + ".class"), both, steps)

    return [
        Client("redis-py", ["env", "PYTHONPATH=" + in_peers("python"),
                            sys.executable, "-B",
                            os.path.join(DRIVERS, "calls_redis_py.py"),
                            "PORT"], in_peers("python", "redis"), both),
        Client("go-redis", [in_peers("bin", "calls"), "PORT"],
               in_peers("bin", "calls"), both),
        node("ioredis", ("",)), node("node-redis", both),
        java("Jedis"), java("Lettuce"), java("Redisson", REDISSON_STEPS),
        Client("hiredis", [hiredis, "PORT", CALLS], hiredis,
               steps=("binary", "pipeline", "watch", "pubsub", "blocking")),
        Client("redis-cli", ["redis-cli", "-p", "PORT", "--no-raw"],
               protocols=("-2", "-3"), steps=(), stdin=CALLS),
        Client("redis-benchmark",
               ["redis-benchmark", "-p", "PORT", "--csv", "-n", "2000", "-c",
                "20", "-P", "4", "-r", "1000", "-t", BENCHMARKS], steps=None)]


def articles(peers):
    """The programs of the articles that began the project."""
    folder = os.path.join(peers, "java")

    def python(name, protocols=("",)):
        return Client("articles: " + name,
                      ["env", "PYTHONPATH=" + os.path.join(peers, "python"),
                       sys.executable, "-B",
                       os.path.join(DRIVERS, f"articles_{name}.py"), "PORT"],
                      os.path.join(peers, "python", "redis"), protocols, ())

    def java(name):
        program = "Articles" + name
        return Client("articles: " + name,
                      ["java", "-XX:TieredStopAtLevel=1", "-cp",
                       f"{folder}:{folder}/lib/*", program, "PORT"],
                      os.path.join(folder, program + ".class"), steps=())

    return [
        Client("articles: redis-cli",
               ["redis-cli", "-p", "PORT", "--no-raw"], steps=(),
               stdin=os.path.join(DRIVERS, "articles.txt")),
        python("redis_py"), python("stackexchange", ("2", "3")),
        java("Spring"), java("Redisson")]


def compare(client, protocol, servers, options):
    """What is wrong, line by line."""
    began = time.monotonic()
    theirs, ours = [client.run(server, protocol) for server in servers]
    took = time.monotonic() - began
    if options.show:
        print("\n".join(theirs))
    differ = [line for line in difflib.unified_diff(theirs, ours, n=0,
                                                    lineterm="")
              if re.match(r"[-+](?![-+]{2})", line)]
    wrong = differ + [f"not made: {step}" for step in client.missing(ours)]
    if theirs[-1].startswith("exit code"):
        wrong.append(f"on redis-server: {theirs[-2:]}")
    print(f"{client.name:23} {protocol:4} {len(theirs):4} lines  "
          f"{took:5.1f} s  " + (f"{len(wrong)} differ" if wrong else "equal"),
          flush=True)
    return [f"{client.name} {protocol}: {line[:1000]}" for line in wrong]


def run(options, servers):
    wrong = []
    for client in (articles(options.peers) +
                   clients(options.hiredis, options.peers)):
        if options.clients and client.name not in options.clients:
            continue
        if not client.exists():
            print(f"skipped: {client.name}: not in {options.peers}")
            continue
        for protocol in client.protocols:
            wrong += compare(client, protocol, servers, options)
    return wrong


def drive(kind, run_all, *folders):
    """Run them on both servers, with the folders that they are in, or of those
    only what --KIND names; exit."""
    parser = argparse.ArgumentParser()
    for name in ("server", "holdfast", *folders):
        parser.add_argument(name)
    parser.add_argument("--" + kind, type=lambda text: text.split(","))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    servers = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            for program in (options.server, options.holdfast):
                servers.append(Server(program, directory))
            wrong = run_all(options, servers)
        finally:
            for server in servers:
                server.close()
    sys.exit("\n".join(["", *wrong]) if wrong else 0)


if __name__ == "__main__":
    drive("clients", run, "hiredis", "peers")
