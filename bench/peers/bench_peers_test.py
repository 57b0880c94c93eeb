#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_peers_test.py - the lines and pictures of `bench_peers.py --quick`.

    bench_peers_test.py PROGRAMS PEERS [--rocksdb]

Every figure of everyone is there, once: its numbers if the peer is installed,
or why it is left out. --rocksdb: the build has found it.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
OURS = """holdfast-volatile holdfast-file holdfast-log holdfast-flush
holdfast-server""".split()
IN_C = "flock fcntl mutex lmdb sqlite rocksdb hiredis".split()
# What tools/peers.sh makes for each.
LIBRARIES = {"redis-py": "python/redis", "redsync": "bin/redsync",
             "redislock": "bin/redislock", "rueidislock": "bin/rueidislock",
             "node-redlock": "node/node-redlock.mjs",
             "redis-semaphore": "node/redis-semaphore.mjs",
             "rslock": "bin/driver_rslock", "redisson": "java/Driver.class"}
WEAKER = ("redisson", "redisson-move")  # a job of a dead worker is lost
NOT_QUICK = ("queue_1", "queue_50", "queue_p50", "queue_p99", "queue_requests",
             "queue_back")
QUEUE_LIBRARIES = {**dict.fromkeys(WEAKER, "java/Jobs.class"),
                   "bullmq": "node/queue-bullmq.mjs",
                   "celery": "python-queues/celery", "asynq": "bin/queue_asynq"}
DURABLE = """holdfast-file holdfast-log lmdb-durable sqlite-wal sqlite-rollback
rocksdb""".split()
VALUES = "holdfast-volatile holdfast-server lmdb sqlite hiredis".split()
SERVED_QUEUES = ["holdfast-server", *QUEUE_LIBRARIES]
QUEUES = ["holdfast-volatile", "holdfast-file", "sqlite", "sqlite-wal",
          *SERVED_QUEUES]
LOCKS = [*OURS, *IN_C, *LIBRARIES]
EXPECTED = {"pair": LOCKS, "hand_over_p50": LOCKS, "hand_over_p99": LOCKS,
            "commit_1": DURABLE, "commit_32": DURABLE, "set": VALUES,
            "get": VALUES,
            **dict.fromkeys(("queue_put", "queue_1", "queue_10", "queue_50",
                             "queue_p50", "queue_p99", "queue_client",
                             "queue_back"), QUEUES),
            "queue_server": SERVED_QUEUES, "queue_requests": SERVED_QUEUES}
UNITS = {"commit_1": "per_s", "commit_32": "per_s", "queue_put": "per_s",
         "queue_1": "per_s", "queue_10": "per_s", "queue_50": "per_s",
         "queue_requests": "requests", "queue_back": "s"}
NO_WORKER = ("bench_contended has no worker for it",
             "only one process can open it")
NEVER = "the lock never changed hands"
COUNTED = (("pair", "flock"), ("pair", "holdfast-volatile"))
FIELDS = {"figure", "who", "version", "unit", "median", "best", "worst",
          "rounds"}
COUNTS = {"instructions", "counted_by"}
PICTURES = {"pair": ("pair",), "commit": ("commit_1", "commit_32"),
            "values": ("set", "get"),
            "hand_over": ("hand_over_p50", "hand_over_p99"),
            "queue": ("queue_1", "queue_10", "queue_50"),
            "queue_wait": ("queue_p50", "queue_p99"),
            "queue_cost": ("queue_client", "queue_server", "queue_requests")}


def is_installed(figure, who, peers, rocksdb):
    if figure.startswith("queue") and who in QUEUE_LIBRARIES:
        return (peers / QUEUE_LIBRARIES[who]).exists()
    if who == "redis-py" and importlib.util.find_spec("redis"):
        return True
    if who in LIBRARIES:
        return (peers / LIBRARIES[who]).exists()
    return who != "rocksdb" or rocksdb


def wrong_numbers(line):
    figure = line["figure"]
    weaker = ({"weaker"} if figure.startswith("queue") and
              line["who"] in WEAKER else set())
    if (FIELDS | weaker) - set(line) or set(line) - FIELDS - COUNTS - weaker:
        return "its fields are others"
    ordered = line["best"], line["median"], line["worst"]
    if line["unit"] == "per_s":
        ordered = ordered[::-1]
    if line["unit"] != UNITS.get(figure, "us"):
        return "its unit is another"
    if not 0 < ordered[0] <= ordered[1] <= ordered[2]:
        return "best, median and worst are in another order"
    if not line["rounds"] >= 1 or not line["version"]:
        return "no rounds, or no version"
    counted = line.get("instructions", 1)
    return None if isinstance(counted, int) and counted > 0 else "instructions"


def wrong_line(line, installed):
    why = line.get("left_out")
    if why is None:
        return wrong_numbers(line) if installed else "it is not installed"
    if set(line) != {"figure", "who", "left_out"} or not why:
        return "its fields are others"
    if line["figure"].startswith("hand_over"):
        return None if why in (*NO_WORKER, NEVER) or not installed else why
    if line["figure"] in NOT_QUICK and line["who"] in QUEUE_LIBRARIES:
        return None if why == "not with --quick" or not installed else why
    return why if installed else None


def complaints(lines, peers, rocksdb):
    found = {}
    for line in lines:
        if found.setdefault((line["figure"], line["who"]), line) is not line:
            yield f"twice: {line}"
    for figure, names in EXPECTED.items():
        for who in names:
            line = found.pop((figure, who), None)
            installed = is_installed(figure, who, peers, rocksdb)
            wrong = (wrong_line(line, installed)
                     if line else "there is no line")
            if wrong:
                yield f"{figure} {who}: {wrong}: {line}"
    yield from (f"unexpected: {line}" for line in found.values())
    if shutil.which("valgrind"):
        for line in lines:
            if ((line["figure"], line["who"]) in COUNTED and
                    "instructions" not in line):
                yield f"no instructions: {line}"


def wrong_pictures(lines, folder):
    for name, figures in PICTURES.items():
        texts = {text.text for text in ElementTree.parse(
            folder / f"peers_{name}.svg").iter() if text.tag.endswith("text")}
        for line in lines:
            if (line["figure"] in figures and "median" in line and
                    line["who"] not in texts):
                yield f"{line['who']} is not in the picture {name}"


def main():
    programs, peers = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run(
            [sys.executable, "-B", str(HERE / "bench_peers.py"), "--quick",
             "--json", "--peers", str(peers), "--pictures", folder, programs],
            check=True, text=True, stdout=subprocess.PIPE).stdout
        about, *lines = map(json.loads, text.splitlines())
        wrong = [] if about["run"]["processors"] > 0 else ["no processors"]
        wrong += complaints(lines, peers, "--rocksdb" in sys.argv)
        wrong += wrong_pictures(lines, Path(folder))
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
