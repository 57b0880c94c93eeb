#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - Redis's own tests against `holdfast serve`.

Usage: run.py SUITE HOLDFAST REDIS_SERVER [--unit UNIT]... [--store URL]
              [--patience S] [--log FILE] [--skip TEST]...
              [--reference-only]

SUITE is the unpacked source of Redis, as tools/redis_suite.sh prepares it. Runs
each unit on a server of its own, and prints a line for each unit and for each
cause (causes.txt) of tests that do not pass. Fails if a failure has no cause,
or an entry of the causes explains nothing.

A unit may end before its last test. Which tests there are is therefore taken
from a run against REDIS_SERVER, whose names are kept in SUITE/reference.json;
those that were not reached count as failed.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

from causes import Causes
from unit import OUTSIDE, Unit

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = """
    type/string type/incr type/list type/list-2 type/list-3 type/set type/zset
    type/hash type/stream type/stream-cgroups sort scan bitops bitfield
    hyperloglog geo expire keyspace dump scripting functions multi pubsub protocol other quit info-command introspection introspection-2
    querybuf slowlog latency-monitor tracking pause
""".split()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Server:
    """A process that speaks Redis's protocol on a port of its own."""

    def __init__(self, command, folder):
        self.address = ("127.0.0.1", free_port())
        self.errors = tempfile.TemporaryFile()
        words = [word.replace("PORT", str(self.address[1]))
                 for word in command]
        self.process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.errors)
        try:
            self.wait_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def wait_ready(self):
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(self.address, 5).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    sys.exit(f"the server did not start: {self.said()}")
            time.sleep(0.02)

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def stop(self):
        """What was wrong with it, or None."""
        early = self.process.poll()
        if early is None:
            self.process.terminate()
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "the server did not end after SIGTERM"
        said = self.said()
        if early is not None or status != 0 or "Sanitizer" in said:
            return f"the server ended with status {status}: {said[-4000:]}"
        return None


def run_unit(name, command, options, denied=(), skipped=()):
    unit = Unit(f"unit/{name}")
    with tempfile.TemporaryDirectory() as folder:
        server = Server([word.replace("FOLDER", folder) for word in command],
                        folder)
        try:
            unit.run(options.suite, server.address, denied, skipped,
                     options.patience)
        finally:
            wrong = server.stop()
        if wrong:
            unit.add(OUTSIDE, "failed", wrong)
    return unit


def reference(options):
    """{unit: {test: tags}}"""
    path = os.path.join(options.suite, "reference.json")
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    command = [options.redis, "--port", "PORT", "--save", "", "--daemonize",
               "no", "--enable-debug-command", "yes",
               "--enable-protected-configs", "yes", "--logfile", "log"]
    for name in options.unit:
        if name in known:
            continue
        unit = run_unit(name, command, options)
        failed = [test for test, (outcome, _) in unit.results.items()
                  if outcome == "failed"]
        print(f"{name}: {len(unit.results)} tests, {unit.seconds:.0f} s with "
              "redis-server" +
              "".join(f"\n    failed: {test}" for test in failed), flush=True)
        known[name] = {test: tags for test, tags in unit.tags.items()
                       if not test.startswith(OUTSIDE)}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1)
    return known


class Tally:
    """What came of a unit's tests."""

    def __init__(self, causes, log):
        self.causes = causes
        self.log = log
        self.counts = {"passed": 0, "failed": 0, "not applicable": 0}
        self.unexplained = []

    def add(self, unit, test, outcome, text, tags):
        if outcome == "left out" and "external" in text:
            cause = self.causes.tags["external:skip"]
        else:
            cause = self.causes.of_tags(tags)
        if cause is None and outcome != "passed":
            cause = self.causes.of_test(unit, test)
            self.log.write(f"{unit}: {test}: {outcome}: {text}\n\n")
        if cause is None:
            self.counts["passed" if outcome == "passed" else "failed"] += 1
            if outcome != "passed":
                self.unexplained.append(f"{unit}: {test}")
            return
        cause.count += 1
        self.counts[cause.kind] += 1


def tally(name, unit, expected, causes, log):
    result = Tally(causes, log)
    for test, tags in expected.items():
        outcome, text = unit.results.get(test, ("failed", "not reached"))
        result.add(name, test, outcome, text, tags)
    for test, (outcome, text) in unit.results.items():
        if test not in expected:
            result.add(name, test, outcome, text, unit.tags[test])
    return result


def print_row(name, counts, seconds):
    print(f"{name:24}{counts['passed']:8}{counts['failed']:8}"
          f"{counts['not applicable']:8}{seconds:8.0f}", flush=True)


def report(causes, totals, unexplained, whole):
    print()
    for cause in causes.causes:
        if cause.count:
            print(f"{cause.count:5} {cause.kind}: {cause.why}")
    applicable = totals["passed"] + totals["failed"]
    print(f"\n{totals['passed']} of {applicable} applicable tests passed: "
          f"{100 * totals['passed'] / max(1, applicable):.1f} %")
    for line in unexplained:
        print(f"failed without a cause: {line}")
    stale = causes.unused() if whole else []
    for line in stale:
        print(f"explains nothing: {line}")
    return not unexplained and not stale


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("holdfast")
    parser.add_argument("redis")
    parser.add_argument("--unit", action="append")
    parser.add_argument("--store", default="volatile:FOLDER/store")
    parser.add_argument("--patience", type=int, default=120)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("--reference-only", action="store_true")
    options = parser.parse_args()
    options.whole = options.unit is None
    options.unit = options.unit or UNITS
    return options


def main():
    options = arguments()
    names = reference(options)
    if options.reference_only:
        return True
    causes = Causes(os.path.join(HERE, "causes.txt"))
    command = [options.holdfast, "serve", "--store", options.store,
               "--listen", "127.0.0.1:PORT"]
    totals = {"passed": 0, "failed": 0, "not applicable": 0}
    unexplained = []
    seconds = 0
    print(f"{'unit':24}{'passed':>8}{'failed':>8}{'n/a':>8}{'s':>8}")
    with open(options.log, "w", encoding="utf-8") as log:
        for name in options.unit:
            unit = run_unit(name, command, options, causes.tags,
                            causes.skips(name) + options.skip)
            result = tally(name, unit, names[name], causes, log)
            print_row(name, result.counts, unit.seconds)
            seconds += unit.seconds
            unexplained += result.unexplained
            for kind, count in result.counts.items():
                totals[kind] += count
    print_row("all", totals, seconds)
    return report(causes, totals, unexplained, options.whole)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
