# SPDX-License-Identifier: Apache-2.0
"""Queues, and work that is done once."""

import asyncio
import signal
import threading
import time
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Coroutine, List

import pytest

import holdfast
from holdfast import AsyncClient, Client, LockOptions, OnceOptions

Name = Callable[[str], str]
Run = Callable[[Callable[[AsyncClient], Coroutine[Any, Any, Any]]], Any]
BRIEF = LockOptions(ttl=0.2, renew=False)


def test_a_job_is_taken_until_it_is_done(store: Client, name: Name) -> None:
    mail = f"{{{name('q')}}}"
    assert store.queue_put(mail, "first", id="a", attempts=3)
    assert not store.queue_put(mail, "first", id="a")
    assert store.queue_put(mail, b"sec\0nd")
    job = store.queue(mail).take()
    assert job.held and job.token and job.id == b"a"
    assert job.payload == b"first" and job.info.attempts == 3
    assert datetime.now(timezone.utc) - job.info.put < timedelta(hours=1)
    job.release()  # as if it had not been taken
    with store.queue(mail).take() as job:
        assert job.id == b"a" and job.info.attempt == 1
        info = store.queue_inspect(mail)
        assert (info.taken, info.ready, info.dead) == (1, 1, 0)
        with store.transaction() as txn:
            txn.if_held(job)
            txn.value_set(mail + "result", "1")
    assert store.value_get(mail + "result") == b"1"
    assert [one.payload for one in store.queue_list(mail, "ready")] == \
        [b"sec\0nd"] and not store.queue_list(mail, "taken")
    with pytest.raises(holdfast.UsageError):
        job.done()
    for job in store.queue(mail):
        with job:
            break  # an end of the block, too
    assert store.queue(mail).take(timeout=0) is None
    with pytest.raises(holdfast.UsageError):
        store.queue_put(mail, "x", priority=10)


def test_a_job_ends_as_it_is_said(store: Client, name: Name) -> None:
    mail = name("q")
    queue = store.queue(mail)
    store.queue_put(mail, "x", id="a", attempts=2)
    queue.take().defer(0.001)
    with pytest.raises(ZeroDivisionError):
        with queue.take() as job:
            assert job.info.attempt == 1 and job.backoff() == 1
            1 // 0
    assert [one.id for one in store.queue_list(mail, "delayed")] == [b"a"]
    job = queue.take()  # waits for it, about 1 s
    assert job.info.attempt == 2 and job.backoff(1, 10) == 2
    job.again()
    assert store.queue_inspect(mail).dead == 1
    assert store.queue_revive(mail, "a") == 1
    assert store.queue_revive(mail, "a") == 0
    with queue.take() as job:
        job.fail()
    assert len(store.queue_list(mail, "dead")) == 1
    assert store.queue_revive(mail, count=5) == 1
    store.queue_pause(mail)
    assert store.queue_inspect(mail).paused and queue.take(0.01) is None
    store.queue_pause(mail, False)
    with pytest.raises(KeyboardInterrupt):
        with queue.take() as job:
            raise KeyboardInterrupt
    assert queue.take().info.attempt == 1  # it was put back


def test_jobs_have_priorities_delays_and_groups(store: Client,
                                                name: Name) -> None:
    mail = name("q")
    store.queue_put(mail, "one", group="g", priority=1)
    store.queue_put(mail, "two", group="g")
    store.queue_put(mail, "later", delay=3600)
    store.queue_put(mail, "first", priority=9, id="f", remember=3600)
    queue = store.queue(mail)
    with queue.take() as first, queue.take() as one:
        assert first.payload == b"first" and first.info.priority == 9
        assert one.payload == b"one" and one.info.group == b"g"
        assert queue.take(timeout=0) is None
        info = store.queue_inspect(mail)
        assert info.behind == 1 and info.delayed == 1
    assert not store.queue_put(mail, "first", id="f")
    assert store.queue_inspect(mail).remembered == 1
    assert queue.take().payload == b"two"


def test_next_ends_a_job_and_takes_another(store: Client, name: Name) -> None:
    mail = name("q")
    for payload in "abc":
        store.queue_put(mail, payload)
    done = []
    with store.queue(mail).take() as job:
        done.append(job.payload)
        while job.next(timeout=0.01):
            done.append(job.payload)
    assert done == [b"a", b"b", b"c"]
    assert store.queue_inspect(mail).taken == 0
    store.queue_put(mail, "d")
    assert job.held is False and not store.queue_list(mail, "dead")
    job = store.queue(mail).take()
    assert not job.next("again", delay=3600, timeout=0)
    assert store.queue_inspect(mail).delayed == 1

    store.queue_put(mail, "e")
    late = store.queue(mail, BRIEF).take()
    other = store.queue(mail).take()  # once the lease has ended
    assert other.payload == b"e" and other.info.attempt == 2
    with pytest.raises(holdfast.LostError):
        late.next()
    other.done()
    store.queue_put(mail, "f")
    assert late.next() and late.payload == b"f"
    late.fail()


def test_ctrl_c_ends_a_wait_for_a_job(store: Client, name: Name) -> None:
    # A shell's background jobs ignore it, and what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    mail = name("q")
    store.queue_put(mail, "x")
    main = threading.main_thread().ident or 0
    timer = threading.Timer(
        0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        with store.queue(mail).take() as job:
            timer.start()
            job.next()
    timer.join()
    assert store.queue_inspect(mail).ready == 0  # it was ended
    store.queue_put(mail, "y")
    assert store.queue(mail).take(timeout=10) is not None


def test_work_is_done_once(store: Client, name: Name) -> None:
    key = name("once")
    options = OnceOptions(fingerprint="body")
    work = store.once(key, options)
    assert store.once_inspect(key) is None
    with pytest.raises(ZeroDivisionError):
        with work.claim() as claim:
            assert claim.held and not claim.done
            info = store.once_inspect(key)
            assert info is not None and info.state == "claimed"
            assert info.owner == claim.owner and info.result is None
            with pytest.raises(holdfast.WaitTimeout):
                work.claim(timeout=0.01)
            1 // 0
    with work.claim(timeout=0):
        pass  # nor was this completed
    with work.claim(timeout=0) as claim:
        claim.complete("result", 7)
    assert claim.result == holdfast.OnceResult(7, b"result")
    with work.claim() as claim:
        assert claim.done and not claim.held
        assert claim.result == holdfast.OnceResult(7, b"result")
    info = store.once_inspect(key)
    assert info is not None and info.state == "done"
    assert info.result == claim.result and info.tick is None
    with pytest.raises(holdfast.UsageError):
        store.once(key, OnceOptions(fingerprint="other")).claim()
    assert store.once_delete(key) and not store.once_delete(key)
    with work.claim() as claim:
        assert not claim.done
        claim.release()


def test_work_in_doubt_is_not_done_again(store: Client, name: Name) -> None:
    key = name("once")
    killed = store.once(key, lease=BRIEF).claim()
    time.sleep(0.3)
    with pytest.raises(holdfast.DoubtError):
        store.once(key).claim()
    info = store.once_inspect(key)
    assert info is not None and info.state == "doubt"
    with store.once(key, OnceOptions(retry_doubt=True)).claim() as claim:
        with pytest.raises(holdfast.LostError):
            killed.complete()
        claim.complete()


def test_work_is_done_once_in_a_period(store: Client, name: Name) -> None:
    key = name("once")
    day = timedelta(days=1)
    # So it is that of the next midnight.
    options = OnceOptions(period=day, early=86399.999, keep=30 * day)
    store.once(key, options).claim().complete()
    info = store.once_inspect(key)
    assert info is not None and info.tick is not None
    assert info.tick.timestamp() % 86400 == 0
    assert info.tick.timestamp() > time.time() - 60
    assert info.remaining > 29 * 86400


# ------------------------------------------------------------------ asyncio


def test_tasks_take_jobs(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        mail, done = name("q"), []

        async def work() -> None:
            async for job in store.queue(mail):
                async with job:
                    assert job.held and job.token
                    await asyncio.sleep(0)
                    done.append(job.payload)

        workers = [asyncio.create_task(work()) for _ in range(3)]
        for number in range(30):
            assert await store.queue_put(mail, str(number))
        until = time.monotonic() + 60
        while len(done) < 30 and time.monotonic() < until:
            await asyncio.sleep(0.01)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        assert sorted(done) == sorted(str(n).encode() for n in range(30))
        info = await store.queue_inspect(mail)
        assert info.ready == info.taken == 0

    run(body)


def test_an_async_job_ends_as_it_is_said(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        mail = name("q")
        queue = store.queue(mail)
        await store.queue_put(mail, "x", attempts=3)
        await (await queue.take()).release()
        await (await queue.take()).defer(0.001)
        with pytest.raises(ZeroDivisionError):
            async with await queue.take() as job:
                1 // 0
        assert job.info.attempt == 1
        job = await queue.take()  # waits for it, about 1 s
        assert job.info.attempt == 2
        await job.again(0.001)
        job = await queue.take()
        await job.fail()
        assert len(await store.queue_list(mail, "dead")) == 1
        assert await store.queue_revive(mail) == 1
        job = await queue.take()
        assert job.held and await queue.take(timeout=0.01) is None

    run(body)


def test_a_cancelled_task_puts_its_job_back(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        mail = name("q")

        async def work() -> None:
            async with await store.queue(mail).take() as job:
                if job.payload == b"end":
                    await job.next()
                await asyncio.sleep(3600)

        for payload, left in ("x", 1), ("end", 0):
            await store.queue_put(mail, payload, id="a")
            task = asyncio.create_task(work())
            while (await store.queue_inspect(mail)).ready:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            job = await store.queue(mail).take(timeout=5 * left)
            assert (job is not None) == bool(left)
            if job is not None:
                assert job.info.attempt == 1
                await job.done()

    run(body)


def test_an_async_next(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        mail, done = name("q"), []
        for payload in "abc":
            await store.queue_put(mail, payload)
        async with await store.queue(mail).take() as job:
            done.append(job.payload)
            while await job.next(timeout=0.01):
                done.append(job.payload)
        assert done == [b"a", b"b", b"c"]
        await store.queue_put(mail, "e")
        late = await store.queue(mail, BRIEF).take()
        other = await store.queue(mail).take()
        with pytest.raises(holdfast.LostError):
            await late.next()
        await other.done()

    run(body)


def test_one_task_does_the_work(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        key = name("once")
        runs: List[int] = []

        async def work(number: int) -> bytes:
            async with await store.once(key).claim() as claim:
                if not claim.done:
                    runs.append(number)
                    await asyncio.sleep(0.01)
                    if len(runs) == 1:
                        raise ZeroDivisionError  # the next one does it
                    await claim.complete("result", 3)
                assert claim.result is not None and claim.result.status == 3
                return claim.result.result

        got = await asyncio.gather(*(work(n) for n in range(10)),
                                   return_exceptions=True)
        assert len(runs) == 2 and got.count(b"result") == 9
        info = await store.once_inspect(key)
        assert info is not None and info.state == "done"
        assert await store.once_delete(key)
        async with await store.once(key).claim() as claim:
            await claim.release()
        async with await store.once(key).claim(timeout=0):
            with pytest.raises(holdfast.WaitTimeout):
                await store.once(key).claim(timeout=0.01)
        killed = await store.once(key, lease=BRIEF).claim()
        await asyncio.sleep(0.3)
        with pytest.raises(holdfast.DoubtError):
            await store.once(key).claim()
        assert not killed.held

    run(body)


def test_jobs_of_a_transaction(store: Client, name: Name) -> None:
    tag = f"{{{name('t')}}}"
    with store.transaction() as txn:
        txn.if_absent(tag)
        txn.value_set(tag, "1")
        put = txn.queue_put(tag + "q", "x")
    assert put.result
    assert store.queue(tag + "q").take().payload == b"x"
