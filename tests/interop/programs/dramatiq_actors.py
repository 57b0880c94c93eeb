#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dramatiq_actors.py - dramatiq: messages, results, retries, rate limits.

Usage: dramatiq_actors.py PORT

Prints results, counts and orders, a line for each step.
"""

import logging
import sys
import threading
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.rate_limits import (
    Barrier, BucketRateLimiter, ConcurrentRateLimiter, WindowRateLimiter)
from dramatiq.rate_limits.backends import RedisBackend as LimitBackend
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend
from dramatiq.results.errors import ResultMissing, ResultTimeout

PORT = int(sys.argv[1])
WAIT_MS = 50000

broker = RedisBroker(port=PORT, namespace="jobs")
results = RedisBackend(port=PORT)
broker.add_middleware(Results(backend=results))
broker.add_middleware(dramatiq.middleware.GroupCallbacks(
    LimitBackend(port=PORT)))
dramatiq.set_broker(broker)
mutex = threading.Lock()
tries = []


@dramatiq.actor(store_results=True)
def add(a, b):
    return a + b


@dramatiq.actor(max_retries=2, min_backoff=10, max_backoff=20)
def fail():
    with mutex:
        tries.append(1)
    raise ValueError("always")


@dramatiq.actor(store_results=True, max_retries=3, min_backoff=10)
def fail_until(number):
    with mutex:
        tries.append(1)
        if len(tries) < number:
            raise ValueError("not yet")
        return len(tries)


@dramatiq.actor(queue_name="done")
def tell():
    told.set()


told = threading.Event()


def say(step, *values):
    print(step, *values, flush=True)


def do_messages(client):
    messages = [add.send(i, i) for i in range(20)]
    say("messages", client.llen("jobs:default"),
        client.hlen("jobs:default.msgs"))
    try:
        results.get_result(messages[0])
    except ResultMissing:
        say("messages", "no result")
    try:
        results.get_result(messages[0], block=True, timeout=50)
    except ResultTimeout:
        say("messages", "no result in time")
    return messages


def do_work(messages):
    say("messages", [message.get_result(block=True, timeout=WAIT_MS)
                     for message in messages])
    began = time.monotonic()
    later = add.send_with_options(args=(3, 4), delay=500)
    say("delay", later.get_result(block=True, timeout=WAIT_MS),
        time.monotonic() - began >= 0.5)
    say("retries", fail_until.send(3).get_result(block=True, timeout=WAIT_MS))
    tries.clear()
    fail.send()
    broker.join("default", timeout=WAIT_MS)
    say("retries", len(tries))
    line = add.message(1, 2) | add.message(3) | add.message(4)
    say("pipeline", line.run().get_result(block=True, timeout=WAIT_MS))
    group = dramatiq.group(add.message(i, 1) for i in range(10))
    group.add_completion_callback(tell.message())
    say("group", list(group.run().get_results(block=True, timeout=WAIT_MS)),
        told.wait(WAIT_MS / 1000))


def do_limits():
    backend = LimitBackend(port=PORT)
    few = ConcurrentRateLimiter(backend, "few", limit=2)
    got = []
    with few.acquire(raise_on_failure=False) as first:
        with few.acquire(raise_on_failure=False) as second:
            with few.acquire(raise_on_failure=False) as third:
                got += [first, second, third]
    with few.acquire(raise_on_failure=False) as fourth:
        got.append(fourth)
    say("limits", got)
    for kind, limiter in (
            ("bucket", BucketRateLimiter(backend, "b", limit=3,
                                         bucket=3600000)),
            ("window", WindowRateLimiter(backend, "w", limit=3,
                                         window=3600))):
        got = []
        for _ in range(5):
            with limiter.acquire(raise_on_failure=False) as acquired:
                got.append(acquired)
        say("limits", kind, got)
    barrier = Barrier(backend, "barrier")
    say("barrier", barrier.create(parties=2), barrier.create(parties=2),
        barrier.wait(block=False))
    thread = threading.Timer(0.2, barrier.wait, kwargs={"block": False})
    thread.start()
    say("barrier", barrier.wait(timeout=WAIT_MS))


def main():
    logging.disable(logging.CRITICAL)
    messages = do_messages(broker.client)
    worker = dramatiq.Worker(broker, worker_timeout=100, worker_threads=4)
    worker.start()
    do_work(messages)
    worker.stop(timeout=WAIT_MS)
    do_limits()
    client = broker.client
    say("end", client.llen("jobs:default"), client.hlen("jobs:default.msgs"),
        client.zcard("jobs:default.XQ"))


if __name__ == "__main__":
    main()
