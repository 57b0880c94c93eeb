#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_serve.py - holdfast serve next to redis-server, by redis-benchmark.

    bench_serve.py PROGRAM [--runs N] [--requests N] [--store SCHEME[?PARAMS]]
        [--aof] [--tests LIST] [--pipelines LIST] [--transports LIST]

Random keys, 50 connections. Each figure is taken from both servers in turn, in
each run; worst and best of the runs' ratios are printed, with the processor
time of both servers per request. --aof: redis-server with appendfsync
everysec; otherwise without persistence.
"""

import argparse
import csv
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

CLIENTS = 50
KEYS = 100000
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, name, command, path, port):
        self.name, self.path, self.port = name, path, port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(500):
            if os.path.exists(path):
                break
            time.sleep(0.01)
        time.sleep(0.2)

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def close(self):
        self.process.terminate()
        self.process.wait()


def start(folder, options):
    """Both servers, theirs first."""
    ports = free_port(), free_port()
    paths = [os.path.join(folder, name) for name in ("redis", "holdfast")]
    save = ["--appendonly", "yes"] if options.aof else ["--save", ""]
    scheme, _, params = options.store.partition("?")
    store = f"{scheme}:{folder}/store" + (f"?{params}" if params else "")
    return (Server("redis-server",
                   ["redis-server", "--port", str(ports[0]), "--unixsocket",
                    paths[0], "--dir", folder, *save], paths[0], ports[0]),
            Server("holdfast",
                   [options.program, "--store", store, "serve", "--listen",
                    f"unix:{paths[1]}", "--listen", f"127.0.0.1:{ports[1]}"],
                   paths[1], ports[1]))


def measure(server, test, transport, pipeline, count):
    """Requests per second, p99 in ms, processor time per request in us."""
    where = (["-s", server.path] if transport == "unix" else
             ["-p", str(server.port)])
    before = server.cpu_s()
    text = subprocess.run(
        ["redis-benchmark", *where, "-t", test, "-n", str(count), "-r",
         str(KEYS), "-c", str(CLIENTS), "-P", str(pipeline), "--csv"],
        check=True, capture_output=True, text=True).stdout
    used = server.cpu_s() - before
    row = list(csv.DictReader(text.splitlines()))[-1]
    return float(row["rps"]), float(row["p99_latency_ms"]), used / count * 1e6


def compare(servers, test, transport, pipeline, options):
    count = options.requests * (1 if pipeline == 1 else 5)
    rows = [[measure(server, test, transport, pipeline, count)
             for server in servers] for _ in range(options.runs)]
    ratios = sorted(ours[0] / theirs[0] for theirs, ours in rows)
    best = [max(row[side][0] for row in rows) for side in (0, 1)]
    p99 = [sorted(row[side][1] for row in rows)[len(rows) // 2]
           for side in (0, 1)]
    cpu = [min(row[side][2] for row in rows) for side in (0, 1)]
    print(f"{transport:5} P{pipeline:<3} {test:8} {best[0]:10.0f} "
          f"{best[1]:10.0f}  {ratios[0]:5.2f}..{ratios[-1]:<5.2f} "
          f"{p99[0]:7.2f} {p99[1]:7.2f}  {cpu[0]:5.2f} {cpu[1]:5.2f}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--requests", type=int, default=100000)
    parser.add_argument("--store", default="volatile")
    parser.add_argument("--aof", action="store_true")
    parser.add_argument("--tests",
                        default="set,get,incr,hset,sadd,zadd,lpush")
    parser.add_argument("--pipelines", default="1,16")
    parser.add_argument("--transports", default="unix,tcp")
    options = parser.parse_args()
    memory = options.store.startswith("volatile") and not options.aof
    folder = tempfile.mkdtemp(prefix="holdfast-bench-",
                              dir="/dev/shm" if memory else None)
    servers = start(folder, options)
    print("                     redis-s/s holdfast/s  ratio        "
          "p99 ms both     CPU us both")
    try:
        for transport in options.transports.split(","):
            for pipeline in options.pipelines.split(","):
                for test in options.tests.split(","):
                    compare(servers, test, transport, int(pipeline), options)
    finally:
        for server in servers:
            server.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
