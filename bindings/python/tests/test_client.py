# SPDX-License-Identifier: Apache-2.0
"""The rest of the blocking client."""

import gc
import signal
import threading
import time
from typing import Callable, List

import pytest

import holdfast
from holdfast import Client, LockOptions

Name = Callable[[str], str]


def test_exceptions_by_family(store: Client, name: Name) -> None:
    key = name("hash")
    store.hash_put(key, {"a": "b"})
    with pytest.raises(holdfast.UsageError) as caught:
        store.value_get(key)
    assert caught.value.status == holdfast.Status.WRONG_TYPE
    assert caught.value.message
    with pytest.raises(holdfast.UsageError):
        Client("no-such-scheme:")
    with pytest.raises(holdfast.RetryError):
        Client("redis+unix:///nonexistent/socket")
    with pytest.raises(TypeError):
        store.value_get(3)  # type: ignore[arg-type]
    closed = Client()
    closed.close()
    with pytest.raises(holdfast.UsageError):
        closed.value_get("a")


def test_a_lock_is_like_threading_lock(store: Client, name: Name) -> None:
    lock = store.lock(name("lock"))
    assert not lock.locked()
    assert lock.acquire() and lock.locked()
    # Another thread may release it, as of threading.Lock.
    other = threading.Thread(target=lock.release)
    other.start()
    other.join()
    assert not lock.locked()
    with pytest.raises(RuntimeError):
        lock.release()
    with pytest.raises(ValueError):
        lock.acquire(False, 1)


def test_threads_exclude_each_other(store: Client, name: Name) -> None:
    lock = store.lock(name("lock"))
    inside = 0
    worst = 0

    def work() -> None:
        nonlocal inside, worst
        for _ in range(25):
            with lock as held:
                inside += 1
                worst = max(worst, inside)
                assert held.held and lock.current is held
                time.sleep(0.0005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert worst == 1 and not lock.locked()


def test_the_gil_is_free_while_waiting(store: Client, name: Name) -> None:
    lock = store.lock(name("lock"))
    with lock:
        waiter = threading.Thread(target=lock.acquire,
                                  kwargs={"timeout": 60})
        waiter.start()
        steps = 0
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            steps += 1
        assert steps > 1000 and waiter.is_alive()
    waiter.join()


@pytest.mark.parametrize("after", [0, 0.0005, 0.002, 0.01, 0.3])
def test_ctrl_c_ends_a_wait(store: Client, name: Name, after: float) -> None:
    # A shell's background jobs ignore it, and what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    lock = store.lock(name("lock"))
    began = time.monotonic()
    main = threading.main_thread().ident or 0
    with lock:
        timer = threading.Timer(after, signal.pthread_kill,
                                (main, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            lock.acquire(timeout=60)
        timer.join()
    assert time.monotonic() - began < 30
    assert lock.acquire(timeout=30)
    lock.release()


def test_a_lost_lock(store: Client, name: Name) -> None:
    reasons: List[holdfast.Status] = []
    lost = threading.Event()

    def on_lost(reason: holdfast.Status) -> None:
        reasons.append(reason)
        lost.set()

    lock = store.lock(name("lock"), LockOptions(ttl=0.3, on_lost=on_lost))
    with pytest.raises(holdfast.LostError):
        with lock as held:
            assert store.lock_break(lock.name)
            assert lost.wait(30) and not held.held
            with pytest.raises(holdfast.LostError):
                store.transaction().if_held(held)
    assert reasons[0] in (holdfast.Status.EXPIRED, holdfast.Status.LOST)
    # What the block raises is not hidden.
    with pytest.raises(ZeroDivisionError):
        with lock:
            store.lock_break(lock.name)
            print(1 / 0)


def test_a_lock_that_is_forgotten_is_released(store: Client,
                                              name: Name) -> None:
    key = name("lock")
    lock = store.lock(key)
    lock.acquire()
    del lock
    gc.collect()
    assert store.lock(key).acquire(timeout=5)


def test_readers_and_writers(store: Client, name: Name) -> None:
    rw = store.rwlock(name("rw"))
    with rw.read, rw.read:
        assert not rw.write.acquire(blocking=False)
    with rw.write.hold(5):
        assert not rw.read.acquire(blocking=False)
    with rw.read as held:
        assert held.token > 0


def test_a_semaphore(store: Client, name: Name) -> None:
    permits = store.semaphore(name("s"), 3)
    with permits, permits:
        assert permits.acquire(False)
        assert not permits.acquire(False)
        permits.release()
    heavy = store.semaphore(permits.name, 3, weight=3)
    with heavy:
        assert not permits.acquire(False)


def test_fenced_writes(store: Client, name: Name) -> None:
    key = name("f")
    assert store.value_put_fenced(key, "new", 7)
    assert not store.value_put_fenced(key, "late", 6)
    assert store.value_get(key) == b"new"
    assert store.hash_put_fenced(name("h"), {"a": "b"}, 1)


def test_a_revision_is_used_once(store: Client, name: Name) -> None:
    key = name("r")
    first = store.value_put_revised(key, "a", 0)
    read = store.value_get_revised(key)
    assert first and read == holdfast.Revised(b"a", first.revision)
    second = store.value_put_revised(key, "b", first.revision, ttl=60)
    assert second and second.revision > first.revision
    late = store.value_put_revised(key, "c", first.revision)
    assert not late and late.revision == second.revision
    assert not store.value_delete_revised(key, first.revision)
    assert store.value_put_revised(key, "", None)
    assert store.value_delete_revised(key, None)
    assert store.value_get_revised(key) is None
    assert store.value_put_revised(key, "d", 7).revision == 0


def test_counters(store: Client, name: Name) -> None:
    key = name("n")
    assert store.value_add(key) == 1
    assert store.value_add(key, 2**62) == 2**62 + 1
    assert store.value_add(key, -1, min=2**62 + 1) is None


def test_one_thread_fills_a_cache_entry(store: Client, name: Name) -> None:
    key, tag = name("c"), name("tag")
    loads: List[int] = []
    got: List[object] = []

    def load() -> str:
        loads.append(1)
        time.sleep(0.05)
        return "row"

    def read() -> None:
        got.append(store.cache_get_or_fill(key, load, ttl=60, tags=[tag]))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1 and got == [b"row"] * 8
    assert store.cache_get(key, tags=[tag]) == b"row"
    assert store.cache_invalidate(tag)
    assert store.cache_get(key) is None

    def fail() -> str:
        raise LookupError("the database is down")

    with pytest.raises(LookupError):
        store.cache_get_or_fill(key, fail, ttl=60)
    assert store.cache_get_or_fill(key, lambda: None, ttl=60) is None
    store.cache_put(key, "put", ttl=60, stale=5)
    assert store.cache_get_or_fill(key, fail, ttl=60) == b"put"
    assert store.cache_delete(key) and not store.cache_delete(key)


def test_a_transaction(store: Client, name: Name) -> None:
    tag = "{" + name("t") + "}"
    a, b = tag + "a", tag + "b"
    store.value_set(a, "1")
    with pytest.raises(holdfast.ConditionError):
        with store.transaction() as txn:
            txn.if_value(a, "2")
            refused = txn.value_set(b, "x")
    assert txn.failed == 0 and store.value_get(b) is None
    with pytest.raises(holdfast.ConditionError):
        print(refused.result)
    with store.transaction() as txn:
        txn.if_exists(a)
        txn.if_absent(b)
        txn.if_field(tag + "h", "f", None)
        old = txn.value_get(a)
        added = txn.value_add(b, 5)
        txn.value_delete(a)
        cas = txn.value_cas(b, "6", "7")
        with pytest.raises(RuntimeError):
            print(added.result)
    assert (old.result, added.result) == (b"1", 5)
    assert not cas.result and cas.result.current == b"5"
    assert store.value_get(a) is None
    with pytest.raises(ZeroDivisionError):
        with store.transaction() as txn:
            txn.value_delete(b)
            print(1 / 0)
    assert store.value_get(b) == b"5"


def test_a_transaction_needs_a_lease(store: Client, name: Name) -> None:
    tag = "{" + name("t") + "}"
    key, rw = tag + "k", store.rwlock(tag + "rw")
    for lock in (store.lock(tag + "lock"), rw.read, rw.write,
                 store.semaphore(tag + "permits", 2)):
        late = store.transaction()
        with lock as held:
            with store.transaction() as now:
                now.if_held(held)
                now.value_set(key, "1")
            late.if_held(held)
            late.value_set(key, "2")
        with pytest.raises(holdfast.ConditionError) as caught:
            late.execute()
        assert caught.value.status == holdfast.Status.CONFLICT
        assert late.failed == 0 and store.value_get(key) == b"1"
        with pytest.raises(holdfast.UsageError):
            store.transaction().if_held(held)
        assert store.value_delete(key)


def test_a_transaction_needs_a_token(store: Client, name: Name) -> None:
    tag = "{" + name("t") + "}"
    lock, key = store.lock(tag + "lock"), tag + "k"

    def put(token: int, value: str) -> None:
        with store.transaction() as txn:
            txn.if_token(lock.name, token)
            txn.value_set(key, value)

    with lock as held:
        token = held.token
        with pytest.raises(holdfast.ConditionError):
            put(token + 1, "1")
        assert store.value_get(key) is None
        put(token, "2")
    with pytest.raises(holdfast.ConditionError):
        put(token, "3")
    with pytest.raises(holdfast.UsageError):
        put(0, "4")
    assert store.value_get(key) == b"2"


def test_a_transaction_needs_a_fence(store: Client, name: Name) -> None:
    tag = "{" + name("t") + "}"
    fenced, key = tag + "f", tag + "k"

    def put(token: int) -> None:
        with store.transaction() as txn:
            txn.if_fence(fenced, token)
            txn.value_set(key, str(token))

    assert store.value_put_fenced(fenced, "1", token=7)
    put(7)
    with pytest.raises(holdfast.ConditionError):
        put(6)
    assert store.value_get(key) == b"7"


def test_a_watch(store: Client, name: Name) -> None:
    key = name("watched")
    with store.watch(key + "*") as watch:
        assert watch.next(0.05) is None
        store.value_set(key, "1")
        change = watch.next(30)
        assert change == holdfast.Change("written", key.encode())
        store.value_delete(key)
        for change in watch:
            if change.kind == "deleted":
                break


def test_keys(store: Client, name: Name) -> None:
    key = name("listed")
    store.value_set(key, "1")
    assert store.keys(key + "*") == [key.encode()]
    assert store.key_type(key) == "string"
    assert store.key_expire(key, 60) and store.key_expire(key, None)
    assert store.key_delete(key) and store.key_type(key) is None


def test_the_version() -> None:
    assert holdfast.version().count(".") == 2
