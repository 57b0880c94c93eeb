#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rq_jobs.py - RQ: jobs, results, retries, schedules, workers that are killed.

Usage: rq_jobs.py PORT

Prints states, results, counts and orders, a line for each step.
"""

import atexit
import logging
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone

from redis import Redis
from rq import Queue, Repeat, Retry, SimpleWorker, Worker
from rq.command import send_shutdown_command, send_stop_job_command
from rq.job import Job
from rq.registry import StartedJobRegistry
from rq.scheduler import RQScheduler

import rq_jobs

PORT = "TEST_PORT"  # for workers in processes of their own
LONG_S = 60


def connect():
    return Redis(port=int(os.environ[PORT]))


def add(a, b):
    return a + b


def fail(text):
    raise ValueError(text)


def fail_until(key, tries):
    """Fails until its number of calls is `tries`."""
    number = connect().incr(key)
    if number < tries:
        raise ValueError(f"try {number}")
    return f"done at try {number}"


def sleep_long():
    """Says first in which process."""
    connect().set("pid", os.getpid())
    time.sleep(LONG_S)


def say(step, *values):
    print(step, *values, flush=True)


def work(queue, **options):
    """What is in the queue, in this process."""
    SimpleWorker([queue], connection=queue.connection).work(
        burst=True, logging_level=logging.CRITICAL, **options)


def names(queue, ids):
    return sorted(Job.fetch(i, connection=queue.connection).description
                  for i in ids)


def counts(queue):
    return " ".join(f"{name}={len(registry)}" for name, registry in (
        ("queued", queue), ("started", queue.started_job_registry),
        ("finished", queue.finished_job_registry),
        ("failed", queue.failed_job_registry),
        ("scheduled", queue.scheduled_job_registry),
        ("deferred", queue.deferred_job_registry)))


def do_jobs(queue):
    jobs = [queue.enqueue(rq_jobs.add, i, i, description=f"add {i}")
            for i in range(5)]
    first = queue.enqueue(rq_jobs.add, "a", "b", at_front=True)
    say("jobs", counts(queue), queue.get_job_ids()[0] == first.id)
    work(queue)
    say("jobs", counts(queue), [job.return_value() for job in [first, *jobs]],
        [job.get_status().value for job in jobs])
    job = queue.enqueue(rq_jobs.add, 1, 2, result_ttl=-1)
    for _ in range(3):
        work(queue)
        queue.enqueue_job(job)
    work(queue)
    say("results", len(job.results()), [r.return_value for r in job.results()],
        job.latest_result().type.name)
    queue.enqueue(rq_jobs.add, 3, 4, job_id="same", meta={"by": "test"})
    work(queue)
    job = Job.fetch("same", connection=queue.connection)
    say("results", job.meta, job.return_value(), job.origin, job.func_name,
        Job.exists("same", connection=queue.connection))
    batch = queue.enqueue_many([
        Queue.prepare_data(rq_jobs.add, (i, 1), job_id=f"many-{i}")
        for i in range(20)])
    say("many", queue.get_job_ids(5, 3), queue.get_job_position("many-7"),
        len(batch))
    work(queue, max_jobs=7)
    say("many", counts(queue), queue.get_job_ids(0, 2))
    queue.empty()
    say("many", counts(queue))


def do_depends(queue):
    first = queue.enqueue(rq_jobs.add, 1, 1, job_id="first")
    second = queue.enqueue(rq_jobs.add, 2, 2, depends_on=first,
                           job_id="second")
    third = queue.enqueue(rq_jobs.add, 3, 3, depends_on=[first, second],
                          job_id="third")
    say("depends", counts(queue), second.get_status().value,
        sorted(queue.deferred_job_registry.get_job_ids()))
    work(queue)
    say("depends", counts(queue), third.return_value())


def do_failed(queue):
    jobs = [queue.enqueue(rq_jobs.fail, f"text {i}", description=f"fail {i}")
            for i in range(3)]
    work(queue)
    failed = queue.failed_job_registry
    say("failed", counts(queue), names(queue, failed.get_job_ids()),
        jobs[0].latest_result().exc_string.splitlines()[-1])
    failed.requeue(jobs[1])
    say("failed", counts(queue), jobs[1].get_status().value)
    failed.remove(jobs[0], delete_job=True)
    say("failed", counts(queue), Job.exists(jobs[0].id, queue.connection))
    work(queue)
    say("failed", counts(queue))


def do_retries(queue):
    job = queue.enqueue(rq_jobs.fail_until, "tries", 3, retry=Retry(max=3))
    work(queue)
    say("retries", job.get_status().value, job.return_value(),
        Job.fetch(job.id, queue.connection).retries_left)
    job = queue.enqueue(rq_jobs.fail, "always", retry=Retry(max=2))
    work(queue)
    job.refresh()
    say("retries", job.get_status().value, job.retries_left, counts(queue))
    later = queue.enqueue(rq_jobs.fail_until, "later", 2,
                          retry=Retry(max=2, interval=LONG_S))
    work(queue)
    say("retries", later.get_status().value, counts(queue))


def schedule(queue, after_s):
    """What is due after_s from now goes into the queue."""
    registry = queue.scheduled_job_registry
    due = registry.get_jobs_to_schedule(time.time() + after_s)
    for job in Job.fetch_many(due, connection=queue.connection):
        with queue.connection.pipeline() as pipeline:
            queue._enqueue_job(job, pipeline=pipeline)
            registry.remove(job, pipeline=pipeline)
            pipeline.execute()
    return len(due)


def do_scheduled(queue):
    now = datetime.now(timezone.utc)
    soon = queue.enqueue_in(timedelta(seconds=LONG_S), rq_jobs.add, 1, 2)
    queue.enqueue_at(now + timedelta(hours=1), rq_jobs.add, 5, 6)
    say("scheduled", counts(queue), schedule(queue, 0))
    say("scheduled", schedule(queue, 2 * LONG_S), counts(queue))
    work(queue)
    say("scheduled", soon.return_value(), counts(queue))
    past = queue.enqueue_at(now - timedelta(hours=1), rq_jobs.add, 7, 8)
    scheduler = RQScheduler([queue], connection=queue.connection)
    other = RQScheduler([queue], connection=queue.connection)
    say("scheduler", scheduler.acquire_locks(), other.acquire_locks())
    scheduler.enqueue_scheduled_jobs()
    work(queue)
    say("scheduler", past.return_value(), counts(queue))
    scheduler.release_locks()
    say("scheduler", other.acquire_locks())
    other.release_locks()
    job = queue.enqueue(rq_jobs.add, 1, 1, repeat=Repeat(times=3, interval=0))
    work(queue)
    say("repeat", len(job.results()), counts(queue))


def until(true):
    for _ in range(2000):
        if true():
            return True
        time.sleep(0.01)
    return False


def start_worker():
    """A worker in a process of its own, which ends with this one."""
    process = subprocess.Popen(
        [sys.executable, "-B", "-m", "rq.cli", "worker", "--quiet", "--url",
         f"redis://127.0.0.1:{os.environ[PORT]}", "killed"],
        cwd=os.path.dirname(os.path.abspath(__file__)),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(process.kill)
    return process


def start_job(queue):
    """A job that a worker has begun."""
    queue.connection.delete("pid")
    job = queue.enqueue(rq_jobs.sleep_long)
    say("killed", until(lambda: queue.connection.exists("pid")),
        job.get_status().value)
    return job


def do_killed(queue):
    """First the process of a job is killed, then the whole worker."""
    process = start_worker()
    job = start_job(queue)
    os.kill(int(queue.connection.get("pid")), signal.SIGKILL)
    say("killed", until(lambda: job.get_status().value == "failed"),
        counts(queue), "terminated" in job.latest_result().exc_string)
    job = start_job(queue)
    horse = int(queue.connection.get("pid"))
    os.kill(process.pid, signal.SIGKILL)
    os.kill(horse, signal.SIGKILL)
    process.wait()
    say("killed", counts(queue), len(Worker.all(queue=queue)))
    StartedJobRegistry(queue=queue).cleanup(time.time() + 1000)
    say("killed", counts(queue), job.get_status().value)


def do_stop(queue):
    """A message makes the worker end its job, another the worker."""
    process = start_worker()
    job = start_job(queue)
    send_stop_job_command(queue.connection, job.id)
    say("stop", until(lambda: job.get_status().value == "stopped"))
    name = next(w.name for w in Worker.all(queue=queue)
                if w.pid == process.pid)
    send_shutdown_command(queue.connection, name)
    say("stop", process.wait(timeout=60))


def main():
    logging.disable(logging.CRITICAL)
    os.environ[PORT] = sys.argv[1]
    connection = connect()
    for step in (do_jobs, do_depends, do_failed, do_retries, do_scheduled):
        connection.flushdb()
        step(Queue("work", connection=connection))
    for step in (do_killed, do_stop):
        step(Queue("killed", connection=connection))
    say("end", sorted(queue.name for queue in Queue.all(connection)))


if __name__ == "__main__":
    main()
