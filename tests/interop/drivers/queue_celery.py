#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_celery.py - Celery and its Redis transport, as bench/peers/queues.py
describes it: threads, acknowledged after the work, no results."""

import os
import sys
import threading
import time

import celery
from celery.signals import worker_ready

PORT, ROLE, *WORK = sys.argv[1:]
NAME, SLOTS, EVERY, HOLD_MS, LEASE_MS = WORK or ("-", 1, 1, 0, 30000)

app = celery.Celery(broker=f"redis://127.0.0.1:{PORT}/0")
app.conf.update(
    task_acks_late=True, task_ignore_result=True, worker_prefetch_multiplier=1,
    worker_redirect_stdouts=False, broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": int(LEASE_MS) / 1000})
mutex, seen, number = threading.Lock(), set(), 0


@app.task(name="job")
def work(payload):
    global number
    put, job = map(int, payload.split())
    with mutex:
        number += 1
        seen.add(job)
        if number % int(EVERY) == 0:
            print(number, len(seen), time.monotonic_ns() - put, flush=True)
    if int(HOLD_MS) > 0:
        time.sleep(int(HOLD_MS) / 1000)


def obey(verb, queue, count=0):
    global number
    if verb == "left":
        with app.connection_for_read() as connection:
            client = connection.default_channel.client
            return client.llen(queue) + client.hlen("unacked")
    began = time.monotonic_ns()
    for _ in range(int(count)):
        work.apply_async((f"{time.monotonic_ns()} {number}".ljust(100),),
                         queue=queue)
        number += 1
    return (time.monotonic_ns() - began) // int(count)


def say_ready(**_):
    print("ready", celery.__version__, flush=True)


if ROLE == "work":
    threading.Thread(target=lambda: sys.stdin.read() or os._exit(0),
                     daemon=True).start()
    worker_ready.connect(say_ready)
    app.Worker(pool="threads", concurrency=int(SLOTS), queues=[NAME],
               loglevel="ERROR", quiet=True, without_mingle=True).start()
say_ready()
for line in sys.stdin:
    print(obey(*line.split()), flush=True)
