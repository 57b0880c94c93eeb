#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libraries.py - each of cases.py, between ours and every other library.

Usage: libraries.py SERVER DRIVER_HOLDFAST PEERS [--libraries A,B,...]
                    [--at-once N]

PEERS is the output of tools/peers.sh. Prints a line for each library that is
not there, and a table: in the first line of a library it holds the lock first,
in the second line ours does. A number is the time from the release, or from the
end of the lease, until the other one held it.

Then, for locks that lack one part of what makes a lock (faulty.py), what
failed: the cases for that part must, and none for one that lacks nothing.
"""

import argparse
import itertools
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from cases import APART, CASES
from driver import HERE, OURS, PREFIX, Driver, Failure, Library, libraries
from server import Server

# A part that is missing, and what must fail without it: (who is first, case).
FAULTS = {
    "nothing": (),
    "nx": ((OURS, "excludes"), (OURS, "renews")),
    "wait": ((OURS, "wakes"), (OURS, "releases_late"), (OURS, "expires")),
    "lease": (("faulty", "releases_late"), ("faulty", "expires")),
    "whole-lease": (("faulty", "expires"),),
    "renewal": (("faulty", "renews"),),
    "own-renewal": (("faulty", "breaks"),),
    "own-release": (("faulty", "releases_late"),),
}


class Direction:
    """Who holds it first, and what came of the cases."""

    def __init__(self, first, second):
        self.first = first
        self.second = second
        self.results = {}
        self.failures = []

    def run(self, cases, number):
        pair = [self.first, self.second]
        try:
            for case in cases:
                pair = self.run_case(case, pair, f"{PREFIX}{number}:"
                                     f"{self.first.name}:{case.__name__}"
                                     .replace(" ", "_"))
        finally:
            for one in pair:
                one.end()

    def run_case(self, case, pair, name):
        """The drivers for the next one: after a failure new ones."""
        name = name.replace(",", "")
        try:
            self.results[case.__name__] = case(*pair, name)
            return pair
        except (Failure, OSError) as failure:
            self.results[case.__name__] = "FAILED"
            self.failures.append(f"{case.__name__}: {failure}")
        for one in pair:
            one.end()
        return [one.restart() for one in pair]


class Row:
    """A library and ours, in both directions."""

    numbers = itertools.count()

    def __init__(self, library, options, server, cases=CASES):
        self.library = library
        self.cases = cases
        self.version = ""
        self.directions = []
        self.options = options
        self.server = server

    def drivers(self):
        library = self.library
        pair = [Driver(library.name, library.command, self.server,
                       library.kind),
                Driver(OURS, [self.options.holdfast], self.server,
                       [library.ours])]
        for one in pair:
            one.await_ready()
        self.version = pair[0].version
        return pair

    def run(self):
        for theirs_first in (True, False):
            theirs, ours = self.drivers()
            pair = (theirs, ours) if theirs_first else (ours, theirs)
            direction = Direction(*pair)
            self.directions.append(direction)
            direction.run(self.cases, next(Row.numbers))
        return self

    def show(self):
        for direction in self.directions:
            cells = [direction.results[case.__name__] for case in self.cases]
            print(f"{self.library.name:20} {self.version:14} "
                  f"{direction.first.name:20}",
                  *(f"{cell:>13}" for cell in cells))

    def failures(self):
        return [f"{self.library.name}, first {direction.first.name}, {failure}"
                for direction in self.directions
                for failure in direction.failures]

    def failed(self):
        return tuple((direction.first.name, name)
                     for direction in self.directions
                     for name, result in direction.results.items()
                     if result == "FAILED")


def show(title, cases, rows):
    if rows:
        print(f"\n{title:20} {'version':14} {'first':20}",
              *(f"{case.__name__:>13}" for case in cases))
    for row in rows:
        row.show()


def find_rows(options, server):
    """Of the libraries that are there; it says which are not."""
    rows = []
    for one in libraries(options.peers):
        if options.libraries and one.name not in options.libraries:
            continue
        if not one.exists():
            print(f"skipped: {one.name}: not in {options.peers}")
            continue
        rows.append(Row(one, options, server))
        if one.name == "redisson lock":
            plain = Library("redisson, plain", one.command, one.needs,
                            one.kind)
            rows.append(Row(plain, options, server, APART))
    return rows


def find_faulty_rows(options, server):
    path = os.path.join(HERE, "faulty.py")
    return [Row(Library("faulty", [sys.executable, "-B", path], path, [fault]),
                options, server) for fault in FAULTS]


def describe(row):
    return [" ".join(failed) for failed in row.failed()]


def show_faulty(row):
    """What is wrong."""
    fault = row.library.kind[0]
    failed = row.failed()
    print(f"lacks {fault}:", "; ".join(describe(row)) or "all passed")
    if not FAULTS[fault] and failed:
        yield from row.failures()
    for first, case in FAULTS[fault]:
        if (first, case) not in failed:
            yield f"lacks {fault}: {case} passed, first {first}"


def run(options, server):
    """What has failed."""
    rows = find_rows(options, server)
    faulty = find_faulty_rows(options, server)
    with ThreadPoolExecutor(options.at_once) as pool:
        list(pool.map(Row.run, faulty + rows))
    for cases, title in ((CASES, "library"), (APART, "another layout")):
        show(title, cases, [row for row in rows if row.cases == cases])
    print("\nfaulty locks: what failed, and who was first")
    failed = [failure for row in rows for failure in row.failures()]
    return failed + [wrong for row in faulty for wrong in show_faulty(row)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("holdfast")
    parser.add_argument("peers")
    parser.add_argument("--libraries", type=lambda text: text.split(","))
    parser.add_argument("--at-once", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(options.server, directory)
        try:
            failed = run(options, server)
        finally:
            server.close()
    sys.exit("\n".join(["", *failed]) if failed else 0)


if __name__ == "__main__":
    main()
