#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""redis_py_suite.py - redis-py's own tests on two servers.

Usage: redis_py_suite.py REDIS_SERVER HOLDFAST PEERS [--files A,B,...]
                         [--protocol 2|3]

PEERS is the output of tools/peers.sh, which has the source of redis-py in it.
Runs the tests of commands, pipelines, subscriptions, locks, scripts and
connections, and prints for each file how many passed on a redis-server and on
`holdfast serve`, then what passed only on the former, with its error. Fails if
one of these has no reason in NOT_THERE.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from server import Server

FILES = """commands pipeline pubsub lock scripting encoding connection
connection_pool multiprocessing keyspace_notifications monitor cache
client""".split()
MARKS = " and ".join("not " + mark for mark in (
    "onlycluster", "redismod", "ssl", "replica", "cp_integration",
    "multidb_integration"))
LIMIT_S = 900

# What `holdfast serve` does not have, and the tests of it: their names.
NOT_THERE = {
    "CONFIG SET maxmemory": r"test_config_set_multi",
    "OBJECT IDLETIME": r"test_object$",
    "BGSAVE of a store in memory": r"test_bgsave",
}


def run(server, options):
    """The results by (file, test): "" if it passed, an error, or None if it was
    skipped."""
    source = os.path.join(options.peers, "redis-py")
    with tempfile.NamedTemporaryFile() as output:
        subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-q", "--tb=line",
             "-p", "no:cacheprovider", "-W", "ignore", "--timeout", "10",
             "-m", MARKS, f"--redis-url=redis://127.0.0.1:{server.port}",
             "--protocol", options.protocol, f"--junitxml={output.name}",
             *(f"tests/test_{name}.py" for name in options.files)],
            cwd=source, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=LIMIT_S,
            env={**os.environ, "PYTHONPATH": os.path.abspath(
                os.path.join(options.peers, "python-tests"))}, check=False)
        tree = xml.etree.ElementTree.parse(output.name)
    return {place(case): outcome(case) for case in tree.iter("testcase")}


def place(case):
    module, *names = case.get("classname").split(".")[1:]
    return module.removeprefix("test_"), "::".join([*names, case.get("name")])


def outcome(case):
    if case.find("skipped") is not None:
        return None
    bad = [*case.findall("failure"), *case.findall("error")]
    return bad[0].get("message") or "failed" if bad else ""


def reason(name):
    for why, pattern in NOT_THERE.items():
        if re.search(pattern, name):
            return why
    return None


def show(theirs, ours):
    """What passed only on a redis-server, without a reason."""
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    wrong = []
    for (file, name), result in theirs.items():
        mine = ours.get((file, name), "was not run")
        counts[file][0] += result == ""
        counts[file][1] += mine == ""
        if result != "" or mine == "":
            continue
        why = reason(name)
        counts[file][2 if why else 3] += 1
        if not why:
            wrong.append(f"{file} {name}: {str(mine)[:300]}")
    print(f"{'file':24} redis-server  holdfast  not there  failed")
    for file, (a, b, c, d) in [*counts.items(),
                               ("all", map(sum, zip(*counts.values())))]:
        print(f"{file:24} {a:12}  {b:8}  {c:9}  {d:6}")
    for why in NOT_THERE:
        names = [name for _, name in theirs if reason(name) == why]
        print(f"not there: {why}: {len(names)} tests")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("holdfast")
    parser.add_argument("peers")
    parser.add_argument("--files", type=lambda text: text.split(","),
                        default=FILES)
    parser.add_argument("--protocol", default="3")
    options = parser.parse_args()
    results = []
    for program in (options.server, options.holdfast):
        with tempfile.TemporaryDirectory() as directory:
            server = Server(program, directory)
            try:
                results.append(run(server, options))
            finally:
                server.close()
    wrong = show(*results)
    sys.exit("\n".join(["", *wrong]) if wrong else 0)


if __name__ == "__main__":
    main()
