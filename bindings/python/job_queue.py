# SPDX-License-Identifier: Apache-2.0
"""A queue of jobs that several programs work on.

    python job_queue.py put JOB PAYLOAD [DELAY]
    python job_queue.py work [SECONDS]

Jobs are items of a timeline, due at their times. A worker takes the first that
is due and that it can lock; a lock that ends with its worker gives the job back.
The job and its result change in one transaction, and the fencing token lets no
worker that was paused replace the result of a newer one.
"""

import sys
import time

import holdfast

JOBS = "{jobs}"


def put(store: holdfast.Client, job: str, payload: str, delay: float) -> None:
    store.timeline_add(JOBS, job, payload, 86400, at=time.time() + delay)


def work_on(store: holdfast.Client, job: str) -> bool:
    name = f"{JOBS}:lock:{job}"
    lock = store.lock(name, holdfast.LockOptions(ttl=10))
    if not lock.acquire(blocking=False):
        return False  # another worker has it
    try:
        held, item = lock.current, store.timeline_get(JOBS, job)
        if held is None or item is None:
            return False  # finished between the look and the lock
        result = item.payload[::-1]  # what a job is: its text backwards
        with store.transaction() as finish:
            finish.if_token(name, held.token)
            finish.value_set(f"{JOBS}:result:{job}", result)
            finish.timeline_remove(JOBS, job)
            finish.value_add(f"{JOBS}:runs:{job}")
        print(job, result.decode(), flush=True)
        return True
    except holdfast.ConditionError:
        return False  # the lock was lost: another worker does it
    finally:
        try:
            lock.release()
        except holdfast.LostError:
            pass


def work(store: holdfast.Client) -> bool:
    """One job that is due; False: there is none, or others have them all."""
    due = store.timeline_page(JOBS, ascending=True, until=time.time(),
                              limit=100)
    return any(work_on(store, item.id.decode()) for item in due.items)


def main() -> int:
    words = sys.argv[1:]
    with holdfast.Client() as store:
        if len(words) >= 3 and words[0] == "put":
            put(store, words[1], words[2],
                float(words[3]) if len(words) > 3 else 0)
            return 0
        if words[:1] == ["work"]:
            until = time.time() + (float(words[1]) if len(words) > 1 else 60)
            while time.time() < until:
                if not work(store):
                    time.sleep(0.02)
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
