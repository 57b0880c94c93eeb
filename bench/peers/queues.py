# SPDX-License-Identifier: Apache-2.0
"""queues.py - the figures of bench_peers.py that are about work queues.

A peer is a program. The first of its words is the server's port, then come
those of its kind:

    PROGRAM PORT ... put            prints "ready VERSION", then for each line
        put QUEUE COUNT             puts so many jobs, one after the other: how
                                    long each took, ns
        left QUEUE                  how many are in it, ready, taken or failed
    PROGRAM PORT ... work QUEUE SLOTS EVERY HOLD_MS LEASE_MS
                                    prints the same, and takes so many jobs at
                                    the same time, until it is killed

A worker holds each job for that long, and then ends it. When it has taken EVERY
more jobs, it prints how many they are now, how many different ones, and how
long after it was put the last was taken, ns. A payload has 100 bytes: when it
was put, ns of CLOCK_MONOTONIC, its number, and blanks.

Half of the jobs are put, and half are taken, before anything is measured.
"""

import os
import random
import shutil
import socket
import statistics
import sys
import threading
import time
from pathlib import Path

from driver import DRIVERS, Driver, Failure

SLOTS = (1, 10, 50)
LEASE_MS = 30000
FIGURES = {"queue_put": "per_s", **{f"queue_{n}": "per_s" for n in SLOTS},
           "queue_p50": "us", "queue_p99": "us", "queue_client": "us",
           "queue_server": "us", "queue_requests": "requests",
           "queue_back": "s"}
OF_SERVERS = ("queue_server", "queue_requests")
LEAST, MOST = 400, 60000  # jobs of one run
QUICK = 20
NOT_QUICK = "not with --quick"  # of what is slow to start
MONITORED = 400
WAITED, WAITED_S = 150, 4.0
PAUSE_S = (0.01, 0.03)  # longer than a worker takes to wait again
BACK_S = 200
HOLD_MS = 10 * BACK_S * 1000


class Peer:
    """One that has a queue. `loses`: what becomes of a job whose worker dies,
    if no other worker gets it; `polls_s`: how often an idle one looks, if that
    is longer than PAUSE_S."""

    def __init__(self, who, command, needs="", kind=(), loses="", polls_s=0):
        self.who, self.command, self.kind = who, command, list(kind)
        self.needs, self.loses, self.polls_s = needs, loses, polls_s
        self.version = "-"
        self.counts = {}  # of slots: how many jobs a run has
        self.rows = {}

    def on_server(self):
        return self.who not in ("holdfast-volatile", "holdfast-file", "sqlite",
                                "sqlite-wal")


def all_peers(peer, peers):
    """`peer` is the program of those in C, `peers` what tools/peers.sh made."""
    peers = Path(peers).resolve()
    in_c = [Peer(who, [peer], kind=[who]) for who in (
        "holdfast-volatile", "holdfast-file", "holdfast-server", "sqlite",
        "sqlite-wal")]
    java = ["java", "-Xshare:auto", "-cp", f"{peers}/java:{peers}/java/lib/*",
            "Jobs"]
    return in_c + [
        Peer("redisson", java, peers / "java/Jobs.class", ["take"],
             "a job is gone when it is taken"),
        Peer("redisson-move", java, peers / "java/Jobs.class", ["move"],
             "a job stays in a second list, which nothing reads"),
        Peer("bullmq", ["node", f"{peers}/node/queue-bullmq.mjs"],
             peers / "node/queue-bullmq.mjs"),
        Peer("celery", ["env", f"PYTHONPATH={peers}/python-queues",
                        sys.executable, "-B", "-W", "ignore",
                        os.path.join(DRIVERS, "queue_celery.py")],
             peers / "python-queues/celery"),
        Peer("asynq", [f"{peers}/bin/queue_asynq"], peers / "bin/queue_asynq",
             polls_s=1),
    ]


def processor_ns(pid):
    """What the threads of a process have used that are there now."""
    used = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            used += int((task / "schedstat").read_text().split()[0])
        except OSError:
            pass  # it has ended
    return used


class Monitor:
    """Counts the requests that a server gets, without those of scripts."""

    def __init__(self, server):
        self.server = server
        self.link = socket.create_connection(("127.0.0.1", server.port))
        self.link.sendall(b"MONITOR\r\n")
        self.marks = {}
        self.reached = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        self.count("began")

    def read(self):
        count = 0
        for line in self.link.makefile("rb"):
            if b'"ECHO"' in line:
                with self.reached:
                    self.marks[line.split(b'"')[3].decode()] = count
                    self.reached.notify()
            elif b" lua] " not in line:
                count += 1

    def count(self, mark):
        """Until now."""
        deadline = time.monotonic() + 10
        while mark not in self.marks:
            if time.monotonic() > deadline:
                raise Failure("MONITOR shows nothing")
            self.server.ask("ECHO", mark)
            with self.reached:
                self.reached.wait_for(lambda: mark in self.marks, 0.1)
        return self.marks[mark]

    def close(self):
        self.link.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.link.close()


class Cost:
    """What a part of a run has used."""

    def __init__(self, server, *drivers):
        self.server, self.drivers = server, drivers
        self.before = self.now()

    def now(self):
        return [sum(processor_ns(one.process.pid) for one in self.drivers),
                processor_ns(self.server.process.pid), time.monotonic_ns()]

    def end(self):
        """Of the clients and of the server, and how long it took, ns."""
        return [now - before for now, before in zip(self.now(), self.before)]


class Queues:
    """The rows, and how they are measured. run: of bench_peers.py."""

    def __init__(self, run, new_row):
        self.run, self.options = run, run.options
        self.queue_number = 0
        self.peers = all_peers(run.peer, self.options.peers)
        for figure in filter(run.wanted, FIGURES):
            for peer in self.peers:
                if figure in OF_SERVERS and not peer.on_server():
                    continue
                row = new_row(figure, peer.who, FIGURES[figure])
                if peer.loses and figure != "queue_back":
                    row.more["weaker"] = peer.loses
                peer.rows[figure] = row
                run.rows.append(row)
                if peer.needs and not os.path.exists(peer.needs):
                    row.leave_out("not installed: see tools/peers.sh")

    def measure(self, last):
        """A round. What needs long is only in the last; so is all of --quick."""
        for peer in self.peers if last or not self.options.quick else ():
            if any(not row.left_out for row in peer.rows.values()):
                try:
                    self.measure_peer(peer, last)
                except (Failure, OSError, ValueError) as failure:
                    for row in peer.rows.values():
                        row.leave_out(f"{peer.who}: {failure}", True)

    def measure_peer(self, peer, last):
        folder = self.run.new_folder(peer.who)
        words = [*peer.kind, *([] if peer.needs else [folder])]
        drivers = []

        def start(*kind):
            driver = Driver(peer.who, peer.command, self.run.server,
                            [*words, *map(str, kind)])
            drivers.append(driver)
            driver.await_ready()
            return driver

        try:
            one = Turn(self, peer, start)
            one.measure(last)
            for row in peer.rows.values():
                row.version = one.producer.version
        finally:
            for driver in drivers:
                driver.end()
            shutil.rmtree(folder)


class Turn:
    """A round of one peer."""

    def __init__(self, queues, peer, start):
        self.queues, self.peer, self.start = queues, peer, start
        self.options, self.server = queues.options, queues.run.server
        self.producer = start("put")

    def wanted(self, *figures):
        return any(figure in self.peer.rows for figure in figures)

    def add(self, figure, value):
        if figure in self.peer.rows:
            self.peer.rows[figure].values.append(value)

    def new_queue(self):
        self.queues.queue_number += 1
        return f"jobs{self.queues.queue_number}"

    def measure(self, last):
        if self.options.quick and self.peer.needs:
            self.drain(10)
            for row in self.peer.rows.values():
                if not row.values:
                    row.leave_out(NOT_QUICK)
            return
        for slots in SLOTS:
            if self.wanted(f"queue_{slots}") or slots == 10 and self.wanted(
                    "queue_put", "queue_client", "queue_server"):
                self.drain(slots)
        if self.wanted("queue_p50", "queue_p99"):
            self.wait()
        if self.wanted("queue_requests"):
            self.monitor()
        if last and self.wanted("queue_back"):
            self.kill()

    def start_worker(self, queue, slots, every, hold_ms=0, lease_ms=LEASE_MS):
        return self.start("work", queue, slots, every, hold_ms, lease_ms)

    def check_done(self, queue, line, count):
        """Every job was taken once, and none is there any more."""
        if list(map(int, line.split()[:2])) != [count, count]:
            raise Failure(f"of {count} jobs, taken and different: {line}")
        for _ in range(500):
            left = self.producer.ask("left", queue)
            if left == "0":
                return
            time.sleep(0.01)
        raise Failure(f"{left} of {count} jobs are left")

    def run_jobs(self, slots, count, begin, end):
        """begin() and end() are called around the second half of the puts, and
        then of the work; returns what they returned."""
        queue, half, found = self.new_queue(), count // 2, []
        self.producer.ask("put", queue, half)
        state = begin(self.producer)
        self.producer.ask("put", queue, half)
        found.append(end(state))
        worker = self.start_worker(queue, slots, half)
        worker.receive()
        state = begin(worker)
        line = worker.receive()
        found.append(end(state))
        self.check_done(queue, line, count)
        worker.end()
        return half, found

    def drain(self, slots, again=True):
        count = QUICK if self.options.quick else self.peer.counts.get(slots,
                                                                      LEAST)
        half, (put, work) = self.run_jobs(
            slots, count, lambda one: Cost(self.server, one), Cost.end)
        slice_s = self.options.slice_ms * 3 / 1000
        fits = 2 * int(min(max(half * 1e9 / work[2] * slice_s, LEAST / 2),
                           MOST / 2))
        self.peer.counts[slots] = fits
        # So few that reading the worker's lines may have taken most of it.
        if again and not self.options.quick and fits > 2 * count:
            self.drain(slots, False)
            return
        self.add(f"queue_{slots}", half * 1e9 / work[2])
        if slots == 10:
            self.add("queue_put", half * 1e9 / put[2])
            self.add("queue_client", (put[0] + work[0]) / half / 1000)
            self.add("queue_server", (put[1] + work[1]) / half / 1000)

    def wait(self):
        """A job that is put while a worker waits."""
        queue, found = self.new_queue(), []
        worker = self.start_worker(queue, 1, 1)
        wanted = 10 if self.options.quick else WAITED
        deadline = time.monotonic() + (
            1 if self.options.quick else WAITED_S + 10 * self.peer.polls_s)
        while len(found) < wanted and (time.monotonic() < deadline or
                                       len(found) < 3):
            time.sleep(random.uniform(PAUSE_S[0],
                                      PAUSE_S[1] + self.peer.polls_s))
            self.producer.ask("put", queue, 1)
            line = worker.receive()
            found.append(int(line.split()[2]) / 1000)
        self.check_done(queue, line, len(found))
        worker.end()
        del found[:len(found) // 10 + 1]  # it has just begun
        self.add("queue_p50", statistics.median(found))
        self.add("queue_p99", sorted(found)[len(found) * 99 // 100])

    def monitor(self):
        monitor = Monitor(self.server)
        try:
            half, (put, work) = self.run_jobs(
                10, QUICK if self.options.quick else MONITORED,
                lambda one: monitor.count(f"{id(one)}-begin"),
                lambda count: monitor.count(f"{count}-end") - count)
        finally:
            monitor.close()
        self.add("queue_requests", (put + work) / half)

    def kill(self):
        """A worker is killed while it has a job, and another waits."""
        row, queue = self.peer.rows["queue_back"], self.new_queue()
        lease_ms = 400 if self.options.quick else 2000
        victim = self.start_worker(queue, 1, 1, HOLD_MS, lease_ms)
        self.producer.ask("put", queue, 1)
        victim.receive()
        other = self.start_worker(queue, 1, 1, 0, lease_ms)
        victim.die()
        killed = time.monotonic()
        limit_s = 5 * lease_ms / 1000 if self.peer.loses else (
            30 if self.options.quick else BACK_S)
        line = ""
        while not line and time.monotonic() < killed + limit_s:
            line = other.receive(min(limit_s, 1))
        if bool(line) == bool(self.peer.loses):
            raise Failure("the job came back" if line else
                          "the job did not come back")
        if self.peer.loses:
            row.leave_out(self.peer.loses)
            return
        row.values.append(time.monotonic() - killed)
        self.check_done(queue, line, 1)
