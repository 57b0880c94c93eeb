# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio."""

import asyncio
import time
from typing import Any, Callable, Coroutine, List

import pytest

import holdfast
from holdfast import AsyncClient, LockOptions

Name = Callable[[str], str]
Run = Callable[[Callable[[AsyncClient], Coroutine[Any, Any, Any]]], Any]


def test_200_tasks_contend_in_order(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        lock = store.lock(name("lock"))
        order: List[int] = []
        inside = 0

        async def work(number: int) -> None:
            nonlocal inside
            async with lock as held:
                inside += 1
                assert inside == 1 and held.held
                order.append(number)
                await asyncio.sleep(0)
                inside -= 1

        async with lock:
            tasks = [asyncio.create_task(work(number))
                     for number in range(200)]
            await asyncio.sleep(0.2)
            assert not order
        await asyncio.gather(*tasks)
        assert order == list(range(200))
        assert not await lock.locked()

    run(body)


def test_operations(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        key = name("key")
        assert await store.value_set(key, "1", ttl=60)
        assert await store.value_get(key) == b"1"
        assert (await store.value_cas(key, "2", "3")).current == b"1"
        assert await store.value_add(key, 4) == 5
        assert await store.hash_put(name("h"), {"a": "b"})
        with pytest.raises(holdfast.UsageError):
            await store.hash_get_all(key)
        line = name("line")
        await store.timeline_add(line, "id", "data", 60, attributes={"n": 1})
        page = await store.timeline_page(line, order_by="n")
        assert page.items[0].attributes == {"n": 1.0}
        numbers = await asyncio.gather(
            *(store.value_add(name("n")) for _ in range(100)))
        assert numbers == [1] * 100

    run(body)


def test_a_lock_is_like_asyncio_lock(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        lock = store.lock(name("lock"))
        assert await lock.acquire() and await lock.locked()
        current = lock.current
        assert current is not None and current.token > 0
        assert not await lock.acquire(0)
        assert not await lock.acquire(0.02)
        await asyncio.create_task(lock.release())
        with pytest.raises(RuntimeError):
            await lock.release()
        async with lock.hold(5):
            with pytest.raises(holdfast.WaitTimeout):
                async with lock.hold(0.02):
                    pass

    run(body)


def test_cancelling_gives_up_the_place(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        lock = store.lock(name("lock"))
        async with lock:
            waiters = [asyncio.create_task(lock.acquire()) for _ in range(5)]
            await asyncio.sleep(0.05)
            for waiter in waiters:
                waiter.cancel()
            for waiter in waiters:
                with pytest.raises(asyncio.CancelledError):
                    await waiter
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(lock.acquire(), 0.05)
        assert await lock.acquire(10)
        await lock.release()

    run(body)


def test_cancelling_at_any_moment_leaves_no_lock(run: Run,
                                                  name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        lock = store.lock(name("lock"))
        for turns in range(60):
            task = asyncio.create_task(lock.acquire())
            for _ in range(turns % 6):
                await asyncio.sleep(0)
            if turns % 6 == 5:
                await asyncio.sleep(0.0002 * turns)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            else:
                lock._holds.clear()  # granted: forgotten, so released
            async with lock.hold(30):
                pass

    run(body)


def test_a_lost_lock(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        lost: "asyncio.Future[holdfast.Status]" = \
            asyncio.get_running_loop().create_future()
        lock = store.lock(name("lock"),
                          LockOptions(ttl=0.3, on_lost=lost.set_result))
        with pytest.raises(holdfast.LostError):
            async with lock as held:
                assert await store.lock_break(lock.name)
                await asyncio.wait_for(lost, 30)
                assert not held.held

    run(body)


def test_readers_and_permits(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        rw = store.rwlock(name("rw"))
        async with rw.read:
            assert not await rw.write.acquire(0)
        async with rw.write.hold(5):
            assert not await rw.read.acquire(0)
        permits = store.semaphore(name("s"), 2)
        async with permits:
            async with permits:
                assert not await permits.acquire(0)

    run(body)


def test_one_task_fills_a_cache_entry(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        key = name("c")
        loads: List[int] = []

        async def load() -> str:
            loads.append(1)
            await asyncio.sleep(0.05)
            return "row"

        got = await asyncio.gather(
            *(store.cache_get_or_fill(key, load, ttl=60) for _ in range(50)))
        assert len(loads) == 1 and got == [b"row"] * 50

        async def fail() -> str:
            raise LookupError("the database is down")

        with pytest.raises(LookupError):
            await store.cache_get_or_fill(name("d"), fail, ttl=60)

    run(body)


def test_a_transaction(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        key = name("t")
        async with store.transaction() as txn:
            txn.if_absent(key)
            added = txn.value_add(key, 5)
        assert added.result == 5
        with pytest.raises(holdfast.ConditionError):
            async with store.transaction() as txn:
                txn.if_absent(key)
                txn.value_delete(key)
        assert await store.value_get(key) == b"5"

    run(body)


def test_a_transaction_needs_a_lease(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        tag = "{" + name("t") + "}"
        lock, key = store.lock(tag + "lock"), tag + "k"
        late = store.transaction()
        async with lock as held:
            token = held.token
            async with store.transaction() as now:
                now.if_held(held)
                now.if_token(lock.name, token)
                now.value_set(key, "1")
            with pytest.raises(holdfast.ConditionError):
                async with store.transaction() as wrong:
                    wrong.if_token(lock.name, token + 1)
                    wrong.value_set(key, "2")
            late.if_held(held)
            late.value_set(key, "3")
        with pytest.raises(holdfast.ConditionError):
            await late.execute()
        assert late.failed == 0 and await store.value_get(key) == b"1"

    run(body)


def test_a_watch(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        key = name("watched")
        async with store.watch(key) as watch:
            await store.value_set(key, "1")
            async for change in watch:
                assert change.kind in ("written", "gap")
                break

    run(body)


def test_the_loop_runs_while_calls_wait(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        lock = store.lock(name("lock"))
        async with lock:
            waiter = asyncio.create_task(lock.acquire(0.3))
            steps = 0
            until = time.monotonic() + 0.2
            while time.monotonic() < until:
                steps += 1
                await asyncio.sleep(0)
            assert steps > 100
            assert not await waiter

    run(body)
