#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""huey_tasks.py - huey: its plain, priority and expiring stores.

Usage: huey_tasks.py PORT

Prints results, counts and orders, a line for each step.
"""

import logging
import sys
import threading
import time
from datetime import datetime, timedelta

from huey import PriorityRedisHuey, RedisExpireHuey, RedisHuey
from huey.exceptions import TaskException, TaskLockedException

PORT = int(sys.argv[1])
WAIT_S = 30


def say(step, *values):
    print(step, *values, flush=True)


def until(true):
    for _ in range(WAIT_S * 100):
        if true():
            return True
        time.sleep(0.01)
    return False


def drain(huey):
    """What is in the queue, in order, in this thread."""
    count = 0
    while task := huey.dequeue():
        huey.execute(task)
        count += 1
    return count


def define(huey):
    @huey.task(context=True)
    def add(a, b, task=None):
        ran.append((a, b))
        return a + b

    @huey.task(retries=2)
    def fail():
        tries.append(1)
        raise ValueError(f"try {len(tries)}")

    ran, tries = [], []
    return add, fail, ran, tries


def do_queue(name, huey):
    add, fail, ran, tries = define(huey)
    results = [add(i, i, priority=i) if name == "priority" else add(i, i)
               for i in range(5)]
    say(name, huey.pending_count(), len(huey), results[0]())
    say(name, drain(huey), ran, [result() for result in results])
    again = add(7, 8)
    again.revoke()
    say(name, drain(huey), again.is_revoked(), again())
    failed = fail()
    say(name, drain(huey), len(tries))
    try:
        failed()
    except TaskException as error:
        say(name, error)
    later = add.schedule((1, 2), delay=3600)
    say(name, drain(huey), huey.scheduled_count(), later())
    due = huey.read_schedule(datetime.utcnow() + timedelta(hours=2))
    for task in due:
        huey.enqueue(task)
    say(name, len(due), huey.scheduled_count(), drain(huey))
    line = add.s(1, 1).then(add, 2).then(add, 3)
    result = huey.enqueue(line)
    say(name, drain(huey), result.get())
    huey.put("key", {"a": 1})
    say(name, huey.get("key", peek=True), huey.get("key"), huey.get("key"),
        huey.put_if_empty("one", 1), huey.put_if_empty("one", 2))
    with huey.lock_task("lock"):
        try:
            with huey.lock_task("lock"):
                say(name, "held twice")
        except TaskLockedException:
            say(name, "locked", huey.is_locked("lock"))
    say(name, huey.is_locked("lock"), huey.flush_locks("lock"),
        huey.result_count())


def do_consumer(huey):
    """Threads that wait in BRPOP."""
    @huey.task()
    def square(number):
        return number * number

    consumer = huey.create_consumer(workers=3, periodic=False,
                                    scheduler_interval=1)
    consumer.start()
    results = [square(i) for i in range(50)]
    say("consumer", [result(blocking=True, timeout=WAIT_S)
                     for result in results])
    soon = square.schedule((12,), delay=1)
    say("consumer", soon(blocking=True, timeout=WAIT_S))
    consumer.stop(graceful=True)
    say("consumer", len(huey), huey.scheduled_count(), huey.result_count())


def do_notify(huey):
    """A result that is waited for on a list."""
    @huey.task()
    def echo(text):
        return text

    result = echo("woken")
    timer = threading.Timer(0.2, drain, (huey,))
    timer.start()
    say("notify", result.get(blocking=True, timeout=WAIT_S))
    timer.join()


def main():
    logging.disable(logging.CRITICAL)
    options = {"port": PORT, "immediate": False}
    do_queue("plain", RedisHuey("plain", blocking=False, **options))
    do_queue("priority", PriorityRedisHuey("priority", blocking=False,
                                           **options))
    do_queue("expiring", RedisExpireHuey("expiring", blocking=False,
                                         expire_time=600, **options))
    do_consumer(RedisHuey("consumer", **options))
    do_notify(RedisHuey("notify", blocking=False, notify_result=True,
                        **options))


if __name__ == "__main__":
    main()
