# SPDX-License-Identifier: Apache-2.0
"""Programs: one that is killed, the examples, and what the package has."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import holdfast
from holdfast import Client, LockOptions

HERE = Path(__file__).resolve().parent
Name = Callable[[str], str]

HOLDER = """
import sys, time, holdfast
store = holdfast.Client()
lock = store.lock(sys.argv[1], holdfast.LockOptions(ttl=1))
rw = store.rwlock(sys.argv[1] + "rw", holdfast.LockOptions(ttl=1))
permits = store.semaphore(sys.argv[1] + "s", 1,
                          options=holdfast.LockOptions(ttl=1))
with lock, rw.write, permits:
    print("held", flush=True)
    time.sleep(600)
"""


def test_killing_the_interpreter_frees_its_locks(store: Client,
                                                 name: Name) -> None:
    key = name("lock")
    holder = subprocess.Popen([sys.executable, "-B", "-c", HOLDER, key],
                              stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    lock = store.lock(key, LockOptions(ttl=1))
    time.sleep(1.5)  # longer than the lease: it is renewed
    assert not lock.acquire(blocking=False)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    for freed in (lock, store.rwlock(key + "rw").write,
                  store.semaphore(key + "s", 1)):
        assert freed.acquire(timeout=30)
        freed.release()


def test_the_first_example_of_the_readme(store: Client, name: Name) -> None:
    readme = (HERE.parent / "README.md").read_text()
    block = re.search(r"```python\n(.*?)```", readme, re.S)
    assert block is not None
    before = int(store.value_get("backup:count") or 0)
    printed = subprocess.run([sys.executable, "-B", "-c", block.group(1)],
                             check=True, capture_output=True, text=True)
    assert printed.stdout == f"backup {before + 1}\n"


def test_the_asyncio_example_of_the_readme() -> None:
    readme = (HERE.parent / "README.md").read_text()
    block = re.findall(r"```python\n(.*?)```", readme, re.S)[1]
    printed = subprocess.run([sys.executable, "-B", "-c", block],
                             check=True, capture_output=True, text=True)
    assert sorted(printed.stdout.split()) == ["0", "1", "2", "3", "4"]


def test_the_worker_of_the_readme() -> None:
    readme = (HERE.parent / "README.md").read_text()
    block = re.findall(r"```python\n(.*?)```", readme, re.S)[2]
    printed = subprocess.run([sys.executable, "-B", "-c", block],
                             check=True, capture_output=True, text=True)
    assert printed.stdout == "sending to: ann\n"


def test_the_job_queue(store: Client) -> None:
    # A job is done at least once: that of the killed worker perhaps twice.
    program = [sys.executable, "-B", str(HERE.parent / "job_queue.py")]

    def worker() -> "subprocess.Popen[bytes]":
        return subprocess.Popen([*program, "work", "120"],
                                stdout=subprocess.DEVNULL)

    subprocess.run([*program, "put", "job0", "JOB0"], check=True)
    jobs = [f"job{number}" for number in range(40)]
    for job in jobs[1:]:
        assert store.queue_put("{jobs}", job.upper(), id=job)
    until = time.monotonic() + 60
    workers = [worker()]
    while store.queue_inspect("{jobs}").ready == len(jobs) and \
            time.monotonic() < until:
        time.sleep(0.01)
    workers[0].kill()
    workers += [worker(), worker()]
    while True:
        info = store.queue_inspect("{jobs}")
        if info.ready + info.taken == 0 or time.monotonic() > until:
            break
        time.sleep(0.05)
    for one in workers:
        one.kill()
        one.wait()
    assert info.ready + info.taken == info.dead == 0
    for job in jobs:
        assert store.value_get("{jobs}:result:" + job) == \
            job.upper()[::-1].encode()
    runs = [int(store.value_get("{jobs}:runs:" + job) or 0) for job in jobs]
    assert min(runs) == 1 and sum(runs) <= len(jobs) + 1


def test_the_faces_are_those_of_the_operations() -> None:
    maker = HERE.parent / "make_faces.py"
    subprocess.run([sys.executable, "-B", str(maker), "--check"], check=True)


def test_the_package_is_typed() -> None:
    folder = Path(holdfast.__file__).parent
    assert (folder / "py.typed").exists()
    assert os.access(folder, os.R_OK)
