#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""celery_tasks.py - Celery: its broker in database 0, its results in 1.

Usage: celery_tasks.py PORT

Prints results, states and counts, a line for each step.
"""

import logging
import sys
import time

from celery import Celery, chain, chord, group
from celery.contrib.testing.worker import start_worker
from celery.exceptions import TimeoutError as CeleryTimeout
from redis import Redis

PORT = sys.argv[1]
WAIT_S = 50

app = Celery(broker=f"redis://127.0.0.1:{PORT}/0",
             backend=f"redis://127.0.0.1:{PORT}/1")
app.conf.update(task_default_queue="work", result_extended=True,
                broker_connection_retry_on_startup=True,
                task_queue_max_priority=None,
                broker_transport_options={"visibility_timeout": 3600})


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def fail(text):
    raise ValueError(text)


@app.task(bind=True, max_retries=3)
def fail_until(self, tries):
    if self.request.retries < tries:
        raise self.retry(countdown=0)
    return self.request.retries


@app.task(bind=True)
def report(self, steps):
    for step in range(steps):
        self.update_state(state="STEP", meta={"step": step})
    return steps


def say(step, *values):
    print(step, *values, flush=True)


def queue_of(database=0):
    return Redis(port=int(PORT), db=database)


def do_queue():
    """Before there is a worker."""
    results = [add.delay(i, i) for i in range(5)]
    add.apply_async((1, 1), queue="other")
    client = queue_of()
    say("queue", client.llen("work"), client.llen("other"),
        results[0].state, sorted(client.smembers("_kombu.binding.work")))
    try:
        results[0].get(timeout=0.1)
    except CeleryTimeout:
        say("queue", "no result in time")
    say("queue", app.control.purge(), client.llen("work"))
    return add.delay("kept ", "for later")


def do_tasks():
    results = [add.delay(i, i) for i in range(20)]
    say("tasks", [result.get(timeout=WAIT_S) for result in results],
        {result.state for result in results})
    say("tasks", fail_until.delay(2).get(timeout=WAIT_S))
    failed = fail.delay("text")
    error = failed.get(timeout=WAIT_S, propagate=False)
    say("failed", failed.state, type(error).__name__, error)
    say("failed", type(fail_until.delay(9).get(
        timeout=WAIT_S, propagate=False)).__name__)
    say("state", report.delay(3).get(timeout=WAIT_S))
    began = time.monotonic()
    say("countdown", add.apply_async((1, 2), countdown=1).get(timeout=WAIT_S),
        time.monotonic() - began >= 1)
    say("expires", add.apply_async((1, 2), expires=-1).get(
        timeout=WAIT_S, propagate=False))


def do_canvas():
    say("chain", chain(add.s(1, 2), add.s(3), add.s(4))().get(timeout=WAIT_S))
    say("group", group(add.s(i, 1) for i in range(10))().get(timeout=WAIT_S))
    say("chord", chord((add.s(i, i) for i in range(10)), total.s())().get(
        timeout=WAIT_S))
    nested = chain(group(add.s(1, 1), add.s(2, 2)), total.s(), add.s(100))
    say("chord", nested().get(timeout=WAIT_S))
    broken = chord((add.s(1, 1), fail.s("part")), total.s())()
    say("chord", type(broken.get(timeout=WAIT_S, propagate=False)).__name__)
    parts = group(add.s(i, 0) for i in range(3)).apply_async()
    parts.save()
    parts.get(timeout=WAIT_S)
    restored = app.GroupResult.restore(parts.id)
    say("group", len(restored), restored.completed_count())
    restored.delete()
    say("group", app.GroupResult.restore(parts.id))


def do_control(worker):
    inspect = app.control.inspect(timeout=5, limit=1)
    say("control", list(inspect.ping().values()),
        [sorted(name for name in names if name.startswith("__main__."))
         for names in inspect.registered().values()])
    task = add.apply_async((1, 1), countdown=3600)
    for _ in range(500):
        if any(app.control.inspect(timeout=5, limit=1).scheduled().values()):
            break
    say("control", "a task waits for its time")
    app.control.revoke(task.id)
    say("control", app.control.add_consumer("third", reply=True, timeout=5,
                                            limit=1)[0][worker.hostname])
    say("control", add.apply_async((5, 5), queue="third").get(timeout=WAIT_S))


def main():
    logging.disable(logging.CRITICAL)
    for database in (0, 1):
        queue_of(database).flushdb()
    early = do_queue()
    with start_worker(app, pool="threads", concurrency=4,
                      perform_ping_check=False, queues=["work"],
                      shutdown_timeout=60) as worker:
        say("queue", early.get(timeout=WAIT_S))
        do_tasks()
        do_canvas()
        do_control(worker)
    results = queue_of(1)
    ends = {results.ttl(key) > 80000 for key in results.scan_iter(
        "celery-task-meta-*")}
    say("end", ends, len(list(queue_of(0).scan_iter("celery-task-meta-*"))))


if __name__ == "__main__":
    main()
