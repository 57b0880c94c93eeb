#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_peers.py - the same work by Holdfast, other libraries and other stores.

    bench_peers.py [--json] [--quick] [--rounds N] [--slice-ms N]
                   [--figures A,B,...] [--peers FOLDER] [--pictures FOLDER]
                   PROGRAMS

PROGRAMS is build/bench; FOLDER of --peers the output of tools/peers.sh, without
which only what is in C and an installed redis-py take part. The server is
redis-server or valkey-server, or the one that HF_TEST_SERVER names, over TCP
and without persistence.

    pair           an acquire and a release of a lock that no one else wants
    hand_over_p50, hand_over_p99
                   two processes, each of which holds a lock for 1 ms and wants
                   it again after 0.5 ms: from before the release of one until
                   after the acquire of the other (bench_contended)
    commit_1, commit_32
                   values of 100 bytes a second that are on the disk, by so many
                   threads
    set, get       values of 100 bytes; on a server, or in shared memory and not
                   flushed
    queue_put      jobs of 100 bytes a second that one producer puts into a work
                   queue, one after the other
    queue_1, queue_10, queue_50
                   jobs a second that are taken and ended, by so many workers in
                   one process
    queue_p50, queue_p99
                   from before a put until a worker that waits has the job
    queue_client, queue_server
                   processor time of one job, from the put to the end, 10 workers
    queue_requests requests of one job, 10 workers
    queue_back     how long after a worker was killed, whose lease is 2 s if that
                   can be chosen, another has its job

Locks differ in what they give: those of the kernel, the mutex, and the
transactions of databases, which write nothing here, only exclude others; the
rest have a lease, an owner that others can see, and ours a fencing token.
Queues without a lease are named as weaker; that of SQLite polls each 10 ms,
that of asynq each second.

Each round measures every figure of everyone once, so that a machine that
becomes slower does so for all. Prints the machine, then the median, the best
and the worst of the rounds, and what was left out, and why: with --json each
as an object on a line of its own.
The instructions are those of one operation in the process that asks for it, for
what is in C, counted by perf, or by callgrind where perf cannot. Stores on a
disk are below TMPDIR or /var/tmp, the others below /dev/shm.

--quick only checks that everything runs. --pictures draws the figures there.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "interop"), str(TOP / "tools")]

from driver import PREFIX, Driver, Failure, libraries  # noqa: E402
from plot_peers import draw  # noqa: E402
from queues import FIGURES as QUEUE_FIGURES, Queues  # noqa: E402
from server import Server  # noqa: E402

LOCAL = "flock fcntl mutex lmdb sqlite rocksdb".split()
DURABLE = """holdfast-file holdfast-log lmdb-durable sqlite-wal sqlite-rollback
rocksdb""".split()
VALUES = "holdfast-volatile lmdb sqlite holdfast-server hiredis".split()
LOCKS = ["holdfast-volatile", "holdfast-file", "holdfast-log",
         "holdfast-flush", *LOCAL, "holdfast-server", "hiredis"]
ON_DISK = {"holdfast-flush", *DURABLE}
# (figure, unit, a peer's command before and after the time, who)
IN_C = (
    ("pair", "us", ("pair",), (), LOCKS),
    ("commit_1", "per_s", ("set",), (1,), DURABLE),
    ("commit_32", "per_s", ("set",), (32,), DURABLE),
    ("set", "us", ("set",), (1,), VALUES),
    ("get", "us", ("get",), (), VALUES),
)
HAND_OVER = ("hand_over_p50", "hand_over_p99")
# Those of bench_contended: its name, and what it needs of tools/peers.sh.
CONTENDED = {
    "holdfast-volatile": ("embedded", ""), "holdfast-file": ("file", ""),
    "flock": ("flock", ""), "fcntl": ("fcntl", ""), "mutex": ("mutex", ""),
    "lmdb": ("lmdb", ""), "sqlite": ("sqlite", ""),
    "holdfast-server": ("holdfast", ""), "hiredis": ("hiredis", ""),
    "redisson": ("redisson", "java/Contend.class"),
    "redsync": ("redsync", "bin/contend_redsync"),
    "rueidislock": ("rueidislock", "bin/contend_rueidislock"),
}
CELL = "2,500,1000"
WARM_UP_MS = 3000  # of libraries that are compiled while they run
COUNTS = (200, 1200)
QUICK_COUNTS = (20, 120)
QUICK_INSTRUCTIONS = (("pair", "flock"), ("pair", "holdfast-volatile"))
# Instructions of a program: its command line, and what it writes to a file.
COUNTERS = (
    ("perf", "perf stat -x, -e instructions:u -o {} --", r"(?m)^(\d+),,instr"),
    ("callgrind", "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
     "--log-file={}", r"Collected : (\d+)"),
)


class Row:
    """A figure of one peer: what the rounds measured, or why it is left out."""

    def __init__(self, figure, who, unit):
        self.figure, self.who, self.unit = figure, who, unit
        self.version = "-"
        self.values = []
        self.left_out = ""
        self.failed = False
        self.more = {}

    def leave_out(self, why, failed=False):
        self.left_out = self.left_out or str(why)
        self.failed = self.failed or failed

    def line(self):
        found = {"figure": self.figure, "who": self.who}
        if self.left_out:
            return {**found, "left_out": self.left_out}
        best, worst = min(self.values), max(self.values)
        if self.unit == "per_s":
            best, worst = worst, best
        return {**found, "version": self.version, "unit": self.unit,
                "median": round(statistics.median(self.values), 4),
                "best": round(best, 4), "worst": round(worst, 4),
                "rounds": len(self.values), **self.more}


class Asked(Row):
    """One whose process is asked for the mean of a time."""

    def __init__(self, figure, who, unit, before, after=(), warm_up_ms=0):
        super().__init__(figure, who, unit)
        self.before, self.after = before, after
        self.warm_up_ms = warm_up_ms
        self.driver = None

    def start(self, command, server, kind):
        try:
            self.driver = Driver(self.who, command, server, kind)
        except OSError as error:
            self.leave_out(error)

    def await_ready(self):
        if self.driver is None:
            return
        try:
            self.driver.await_ready()
            self.version = self.driver.version
        except Failure as failure:
            self.leave_out(failure, True)

    def measure(self, slice_ms):
        if self.left_out:
            return
        try:
            nanoseconds = float(self.driver.ask(*self.before, slice_ms,
                                                *self.after))
        except (Failure, OSError) as failure:
            self.leave_out(failure, True)
            return
        self.values.append(1e9 / nanoseconds if self.unit == "per_s"
                           else nanoseconds / 1000)

    def warm_up(self, slice_ms):
        self.measure(max(slice_ms, self.warm_up_ms))
        self.values.clear()


class Run:
    """The rows, and where they are measured."""

    def __init__(self, options, server, memory, disk):
        self.options, self.server = options, server
        self.folders = {False: memory, True: disk}
        self.peer = os.path.join(options.programs, "peers", "peer")
        self.built = subprocess.run(
            [self.peer, "--list"], check=True, text=True,
            capture_output=True).stdout.split()
        self.rows = []
        self.queues = None

    def wanted(self, figure):
        return not self.options.figures or figure in self.options.figures

    def new_folder(self, who):
        return tempfile.mkdtemp(prefix=who + "-", dir=self.folders[
            who in ON_DISK])

    def peer_command(self, who):
        return [self.peer], [who, self.new_folder(who)]

    def add_peers_in_c(self):
        drivers = {}  # set and get, commits by 1 and by 32, have one process
        for figure, unit, before, after, names in IN_C:
            if not self.wanted(figure):
                continue
            for who in names:
                row = Asked(figure, who, unit, before, after)
                self.rows.append(row)
                process = (who, before == ("pair",))
                if who not in self.built:
                    row.leave_out("not installed")
                elif process in drivers:
                    row.driver = drivers[process].driver
                    row.version = drivers[process].version
                else:
                    command, kind = self.peer_command(who)
                    row.start(command, self.server, kind)
                    row.await_ready()
                    drivers[process] = row

    def add_libraries(self):
        added = []
        for one in libraries(self.options.peers):
            if one.ours != "plain" and one.name != "redisson lock":
                continue
            who = one.name.split()[0]
            row = Asked("pair", who, "us", ("pairs", PREFIX + "peers"), (),
                        WARM_UP_MS)
            added.append(row)
            if one.exists():
                row.start([word for word in one.command
                           if "TieredStopAtLevel" not in word],
                          self.server, one.kind)
            else:
                row.leave_out("not installed: see tools/peers.sh")
        for row in added:
            row.await_ready()
        self.rows += added

    def add_hand_overs(self):
        for figure in filter(self.wanted, HAND_OVER):
            for who in dict.fromkeys([*CONTENDED, *LOCKS, "redis-py", "rslock",
                                      "redislock", "node-redlock",
                                      "redis-semaphore"]):
                row = Row(figure, who, "us")
                self.rows.append(row)
                needs = CONTENDED.get(who, ("", ""))[1]
                if who == "rocksdb":
                    row.leave_out("only one process can open it")
                elif who not in CONTENDED:
                    row.leave_out("bench_contended has no worker for it")
                elif not os.path.exists(os.path.join(self.options.peers,
                                                     needs)) and needs:
                    row.leave_out("not installed: see tools/peers.sh")

    def hand_over(self):
        rows = [row for row in self.rows
                if row.figure in HAND_OVER and not row.left_out]
        ways = {CONTENDED[row.who][0]: row.who for row in rows}
        if not ways:
            return
        seconds = ["--quick"] if self.options.quick else ["--seconds", "1"]
        result = subprocess.run(
            [os.path.join(self.options.programs, "bench_contended"), "--json",
             *seconds, "--cell", CELL, "--peers", self.options.peers or ".",
             *ways], text=True, stdout=subprocess.PIPE, check=False,
            env={**os.environ, "HF_TEST_SERVER": self.options.server})
        found = {ways[line["way"]]: line for line in
                 map(json.loads, result.stdout.splitlines())}
        for row in rows:
            if row.who not in found:
                row.leave_out("bench_contended failed", True)
            elif found[row.who]["changed"] > 0:
                row.values.append(found[row.who][row.figure[10:] + "_us"])

    def measure(self):
        options = self.options
        asked = [row for row in self.rows if isinstance(row, Asked)]
        for row in [] if options.quick else asked:
            row.warm_up(options.slice_ms)
        for number in range(options.rounds):
            print(f"bench_peers: round {number + 1} of {options.rounds}",
                  file=sys.stderr, flush=True)
            for row in asked if number % 2 == 0 else reversed(asked):
                row.measure(options.slice_ms)
            self.hand_over()
            self.queues.measure(number == options.rounds - 1)
        for row in self.rows:
            if not row.values:
                row.leave_out("the lock never changed hands")

    def name_versions(self):
        """Of those whose process does not say it."""
        versions = {row.who: row.version for row in self.rows
                    if row.version != "-"}
        for row in self.rows:
            row.version = versions.get(row.who, row.version)

    def end(self):
        for driver in {row.driver for row in self.rows
                       if isinstance(row, Asked)} - {None}:
            driver.end()

    # ------------------------------------------------------------ instructions

    def count_all(self):
        """Those of one operation, from two runs that differ in their number."""
        counter = find_counter()
        if counter is None:
            print("bench_peers: no instructions: neither perf nor valgrind "
                  "can count them", file=sys.stderr)
            return
        for row in self.rows:
            if (not isinstance(row, Asked) or row.left_out or
                    row.who not in self.built or row.after == (32,)):
                continue
            if (self.options.quick and
                    (row.figure, row.who) not in QUICK_INSTRUCTIONS):
                continue
            try:
                row.more = self.count_row(counter, row)
            except (OSError, subprocess.SubprocessError,
                    AttributeError) as error:
                print(f"bench_peers: {row.figure}, {row.who}: no instructions: "
                      f"{error}", file=sys.stderr)

    def count_row(self, counter, row):
        counts = QUICK_COUNTS if self.options.quick else COUNTS
        few, many = (self.count_times(counter, row, times) for times in counts)
        return {"instructions": round((many - few) / (counts[1] - counts[0])),
                "counted_by": counter[0]}

    def count_times(self, counter, row, times):
        command, kind = self.peer_command(row.who)
        return count_instructions(
            counter, [*command, str(self.server.port), *kind],
            f"times {times} {row.before[0]}\n")


def count_instructions(counter, command, lines):
    _, words, pattern = counter
    with tempfile.NamedTemporaryFile("r") as file:
        subprocess.run([*words.format(file.name).split(), *command],
                       input=lines, text=True, check=True,
                       stdout=subprocess.DEVNULL)
        return int(re.search(pattern, file.read()).group(1))


def find_counter():
    for counter in COUNTERS:
        try:
            count_instructions(counter, ["true"], "")
            return counter
        except (OSError, subprocess.SubprocessError, AttributeError):
            pass
    return None


def describe_run(options):
    model = re.search(r"model name\s*: (.*)",
                      Path("/proc/cpuinfo").read_text(encoding="ascii"))
    return {"processor": model.group(1) if model else platform.machine(),
            "processors": os.cpu_count(), "kernel": platform.release(),
            "server": os.path.basename(options.server),
            "load": os.getloadavg()[0]}


def show(line):
    if "left_out" in line:
        return f"{line['figure']:14} {line['who']:18} {line['left_out']}"
    counted = (f"; {line['instructions']} instructions"
               if "instructions" in line else "")
    if "weaker" in line:
        counted += f"; weaker: {line['weaker']}"
    return (f"{line['figure']:14} {line['who']:18} {line['version']:14} "
            f"{line['median']:12.3f} {line['unit']:5} (best "
            f"{line['best']:.3f}, worst {line['worst']:.3f} of "
            f"{line['rounds']}){counted}")


def measure_all(options, server, memory, disk):
    run = Run(options, server, memory, disk)
    try:
        run.add_peers_in_c()
        if run.wanted("pair"):
            run.add_libraries()
        run.add_hand_overs()
        run.queues = Queues(run, Row)
        run.measure()
        run.name_versions()
        run.count_all()
    finally:
        run.end()
    return run.rows


def read_options():
    parser = argparse.ArgumentParser(
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__)
    parser.add_argument("programs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--slice-ms", type=int)
    parser.add_argument("--figures", type=lambda text: text.split(","))
    parser.add_argument("--peers", default="")
    parser.add_argument("--pictures")
    options = parser.parse_args()
    unknown = set(options.figures or ()) - {*HAND_OVER, *QUEUE_FIGURES,
                                            *(row[0] for row in IN_C)}
    if unknown:
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.slice_ms = options.slice_ms or (20 if options.quick else 300)
    options.server = (os.environ.get("HF_TEST_SERVER") or
                      shutil.which("redis-server") or
                      shutil.which("valkey-server"))
    if not options.server:
        parser.error("no redis-server")
    return options


def main():
    options = read_options()
    about = describe_run(options)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory, \
            tempfile.TemporaryDirectory(
                dir=os.environ.get("TMPDIR", "/var/tmp")) as disk:
        server = Server(options.server, memory)
        try:
            rows = measure_all(options, server, memory, disk)
        finally:
            server.close()
    about["load_after"] = os.getloadavg()[0]
    lines = [row.line() for row in rows]
    print(json.dumps({"run": about}) if options.json else about)
    for line in lines:
        print(json.dumps(line) if options.json else show(line))
    if options.pictures:
        draw(lines, Path(options.pictures))
    sys.exit(any(row.failed for row in rows))


if __name__ == "__main__":
    main()
