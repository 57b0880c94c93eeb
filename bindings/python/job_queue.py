# SPDX-License-Identifier: Apache-2.0
"""A queue of jobs that several programs work on.

    python job_queue.py put JOB PAYLOAD [DELAY]
    python job_queue.py work [SECONDS]

The job of a worker that was killed is taken by another when its lease ends, so
it may be done twice. Its result is stored only while the worker has the job: one
that was paused does not replace the result of a newer one.
"""

import sys
import time

import holdfast

JOBS = "{jobs}"


def run(payload: bytes) -> bytes:
    """What a job is: here, its text backwards, which takes a while."""
    time.sleep(0.02)
    return payload[::-1]


def work_on(store: holdfast.Client, job: holdfast.Job) -> None:
    with job:  # done at the end of the block
        result, name = run(job.payload), job.id.decode()
        with store.transaction() as write:
            write.if_held(job)
            write.value_set(f"{JOBS}:result:{name}", result)
            write.value_add(f"{JOBS}:runs:{name}")
    print(name, result.decode(), flush=True)


def work(store: holdfast.Client, seconds: float) -> None:
    # Renewed; what a killed worker delays its job for.
    queue = store.queue(JOBS, holdfast.LockOptions(ttl=5))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job = queue.take(timeout=1)
        try:
            if job is not None:
                work_on(store, job)
        except holdfast.ConditionError:
            pass  # the job was lost: another worker has it


def main() -> int:
    words = sys.argv[1:]
    with holdfast.Client() as store:
        if len(words) >= 3 and words[0] == "put":
            delay = float(words[3]) if len(words) > 3 else 0
            put = store.queue_put(JOBS, words[2], id=words[1], delay=delay)
            return 0 if put else 1
        if words[:1] == ["work"]:
            work(store, float(words[1]) if len(words) > 1 else 60)
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
