#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py - the same work of programs that need a Redis, on two servers.

Usage: programs.py REDIS_SERVER HOLDFAST PEERS [--programs A,B,...] [--show]

PEERS is the output of tools/peers.sh. Each program in programs/ does its work
on a redis-server and on `holdfast serve`, both empty, and prints what its users
see: results, states, counts and orders, but no ids and no times. The outputs
must be equal. --show prints them. A program whose language or packages are
missing is skipped with a line that says so.
"""

import os
import shutil
import sys

from clients import Client, compare, drive

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")

# The first words of the lines that each program must print.
STEPS = {
    "RQ": """jobs results many depends failed retries scheduled scheduler
        repeat killed stop end""",
    "Celery": """queue tasks failed state countdown expires chain group chord
        control end""",
    "huey": "plain priority expiring consumer notify",
    "dramatiq": "messages delay retries pipeline group limits barrier end",
    "django-redis": """default packed plain ttl nx keys lock set hash client
        session databases""",
    "walrus": """hash list set zset hyperloglog bits array geo stream group
        series model cache lock limit autocomplete graph""",
    "channels_redis": "core pubsub capacity",
    "BullMQ": """jobs pause delays retries failed clean repeat flows stalled
        limits""",
    "ioredis": """set client url again multi pipeline script block publish scan
        stream move swap info flush""",
    "Sidekiq": "queue work retries dead scheduled process killed end",
    "Redisson": """stream group info block topic geo hyperloglog cache limiter
        end""",
    "redis-cli": """bigkeys memkeys scan dbsize hotkeys stat pipe rdb repeat stdin
        database url csv json error multi eval subscribe""",
}


def programs(peers):
    peers = os.path.abspath(peers)

    def program(name, command, needs):
        return Client(name, [*command, "PORT"], needs,
                      steps=STEPS[name].split())

    def python(name, file, package):
        folder = os.path.join(peers, "python-programs")
        return program(name, ["env", "PYTHONPATH=" + folder, sys.executable,
                              "-B", os.path.join(HERE, file)],
                       os.path.join(folder, package))

    def node(name, file, package):
        folder = os.path.join(peers, "node")
        return program(name, ["env", "NODE_MODULES=" + folder, "node",
                              os.path.join(HERE, file)],
                       os.path.join(folder, "node_modules", package))

    def installed(name, command, file):
        return program(name, [command, os.path.join(HERE, file)],
                       shutil.which(name.lower()) or f"no {name}")

    java = os.path.join(peers, "java")
    return [
        python("RQ", "rq_jobs.py", "rq"),
        python("Celery", "celery_tasks.py", "celery"),
        python("huey", "huey_tasks.py", "huey"),
        python("dramatiq", "dramatiq_actors.py", "dramatiq"),
        python("django-redis", "django_cache.py", "django_redis"),
        python("walrus", "walrus_types.py", "walrus"),
        python("channels_redis", "channels_groups.py", "channels_redis"),
        node("BullMQ", "bullmq_flows.mjs", "bullmq"),
        node("ioredis", "ioredis_db5.mjs", "ioredis"),
        program("Redisson", ["java", "-XX:TieredStopAtLevel=1", "-cp",
                             f"{java}:{java}/lib/*", "RedissonObjects"],
                os.path.join(java, "RedissonObjects.class")),
        installed("Sidekiq", "ruby", "sidekiq_jobs.rb"),
        installed("redis-cli", "sh", "redis_cli.sh")]


def run(options, servers):
    wrong = []
    for program in programs(options.peers):
        if options.programs and program.name not in options.programs:
            continue
        if not program.exists():
            print(f"skipped: {program.name}: not installed")
            continue
        for server in servers:
            server.ask("FLUSHALL")
        wrong += compare(program, "", servers, options)
    return wrong


if __name__ == "__main__":
    drive("programs", run, "peers")
