# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio. The loop watches the client's descriptor; no thread
waits, and cancelling a task cancels its call."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import (Any, AsyncIterator, Awaitable, Callable, Dict, Iterable,
                    List, Optional, Type, TypeVar, overload)

from ._client import (Change, ClientOptions, TransactionBase, change_of,
                      doubt_of, end_fill, open_client, open_watch)
from ._core import (Call, Duration, HoldfastError, Key, Memory, Status, Value,
                    WaitTimeout, check, encode, error_of, ffi, lib,
                    milliseconds, new_error, new_struct, take_buffer)
from ._faces import AsyncOperations
from ._leases import (ClaimHold, H, Hold, JobHold, JobOutcome, Kind, LockInfo,
                      LockOptions, OnceOptions, OnLost, claim_maker, info_of,
                      make_job, make_lock, make_reader, outcome_of,
                      permits_maker, writer_maker)
from ._operations import OnceResult, cache_options

T = TypeVar("T")
AsyncLoader = Callable[[], Awaitable[Optional[Value]]]
Begin = Callable[[Any, Any], int]


class Started:
    """A call that was started. Its memory is kept until it has completed, also
    if no task waits for it any more."""

    pending: "set[Started]" = set()

    def __init__(self, loop: asyncio.AbstractEventLoop, memory: Memory) -> None:
        self.future: "asyncio.Future[int]" = loop.create_future()
        self.memory = memory
        self.handle = ffi.new_handle(self)
        self.call = ffi.new("hf_call **")
        self.err = new_error()

    def begin(self, begin: Begin) -> None:
        """Raises if it could not be started."""
        async_ = new_struct("hf_async")
        async_.done = lib.hf_py_done
        async_.user = self.handle
        async_.call = self.call
        check(begin(async_, self.err), self.err)
        Started.pending.add(self)

    def complete(self, status: int, err: Any) -> None:
        Started.pending.discard(self)
        self.call[0] = ffi.NULL
        self.handle = None  # which refers to this: what it keeps ends now
        if err != ffi.NULL:
            ffi.memmove(self.err, err, ffi.sizeof("hf_error"))
        if not self.future.done():
            self.future.set_result(status)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def hf_py_done(user: Any, status: int, err: Any) -> None:
    ffi.from_handle(user).complete(status, err)


class AsyncClient(AsyncOperations):
    """An open store, for the tasks of one loop. Use it as an asynchronous
    context manager. Opening connects, which blocks for at most
    `options.connect`."""

    def __init__(self, url: Optional[str] = None,
                 options: ClientOptions = ClientOptions()) -> None:
        self._client = open_client(url, options)
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._fd = -1

    async def close(self) -> None:
        """Close it: calls in progress fail."""
        if self._client is None:
            return
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
        ffi.release(self._client)
        self._client = None

    async def __aenter__(self) -> "AsyncClient":
        self._attach()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _raw(self) -> Any:
        if self._client is None:
            raise error_of(Status.INVALID)
        return self._client

    def _attach(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            fd, err = ffi.new("int *"), new_error()
            check(lib.hf_client_fd(self._raw(), fd, err), err)
            self._fd = int(fd[0])
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._fd, self._dispatch)
        return self._loop

    def _dispatch(self) -> None:
        if self._client is not None:
            lib.hf_client_dispatch(self._client, ffi.NULL, ffi.NULL)

    async def _start(self, memory: Memory, begin: Begin) -> Started:
        """Run a call to its end; cancelling the task cancels the call."""
        started = Started(self._attach(), memory)
        started.begin(begin)
        try:
            await asyncio.shield(started.future)
        except asyncio.CancelledError:
            lib.hf_call_cancel(started.call[0])
            self._dispatch()
            raise
        return started

    async def _run(self, call: Call[T]) -> T:
        client = self._raw()
        started = await self._start(
            call.memory, lambda a, err: call.start(client, a, err))
        return call.result(started.future.result(), started.err)

    # Locks.

    def lock(self, name: Key,
             options: LockOptions = LockOptions()) -> "AsyncLock":
        """A lock with the methods of asyncio.Lock."""
        return AsyncLock(self, Kind(self._raw(), name, options, make_lock,
                                    Hold))

    def rwlock(self, name: Key, options: LockOptions = LockOptions(), *,
               prefer_writers: bool = False) -> "AsyncRWLock":
        """Many readers or one writer."""
        return AsyncRWLock(
            AsyncLock(self, Kind(self._raw(), name, options, make_reader,
                                 Hold)),
            AsyncLock(self, Kind(self._raw(), name, options,
                                 writer_maker(prefer_writers), Hold)))

    def semaphore(self, name: Key, permits: int, *, weight: int = 1,
                  options: LockOptions = LockOptions()) -> "AsyncLock":
        """At most `permits` at the same time, of which each holder takes
        `weight`."""
        return AsyncLock(self, Kind(self._raw(), name, options,
                                    permits_maker(permits, weight), Hold))

    async def lock_info(self, name: Key) -> Optional[LockInfo]:
        """Who holds a lock; None: it is free."""
        memory = Memory()
        info = memory.struct("hf_lock_info")
        view = memory.view(name)
        client = self._raw()
        started = await self._start(
            memory, lambda a, err: lib.hf_lock_inspect_start(
                client, view, info, a, err))
        return info_of(started.future.result(), info, started.err)

    async def lock_break(self, name: Key) -> bool:
        """Take a lock away from its holders. False: it was free."""
        memory = Memory()
        return await self._run(
            Call("lock_break", (memory.view(name),), memory,
                 lambda status: status == Status.OK, (Status.NOT_FOUND,)))

    # Leases on work.

    def queue(self, name: Key,
              options: LockOptions = LockOptions()) -> "AsyncQueue":
        """Takes jobs of a queue, each under a lease with these options."""
        return AsyncQueue(self, Kind(self._raw(), name, options, make_job,
                                     AsyncJob))

    def once(self, key: Key, options: OnceOptions = OnceOptions(), *,
             lease: LockOptions = LockOptions()) -> "AsyncOnce":
        """Work that is done once, and its result."""
        return AsyncOnce(self, Kind(self._raw(), key, lease,
                                    claim_maker(options), AsyncClaim))

    async def _acquire(self, kind: Kind[H], wait: Optional[Duration]
                       ) -> "tuple[H, int, Any]":
        """A handle, and what its acquire has returned. None: without a
        limit."""
        hold = kind.handle(self._on_lost(kind))
        wait_ms = milliseconds(wait, lib.HF_FOREVER)
        try:
            started = await self._start(
                Memory([hold]), lambda a, err: lib.hf_lock_acquire_start(
                    hold._lock, wait_ms, a, err))
        except BaseException:
            self._give_back(hold)
            raise
        return hold, started.future.result(), started.err

    def _on_lost(self, kind: Kind[H]) -> Optional[OnLost]:
        given = kind.options.on_lost
        if given is None:
            return None
        loop, chosen = self._attach(), given
        return lambda reason: loop.call_soon_threadsafe(chosen, reason)

    def _give_back(self, hold: Hold) -> None:
        """After a cancelled acquire, which may have been granted meanwhile:
        release it without waiting for the reply."""
        if not hold.held:
            hold._free()
            return
        released = Started(self._attach(), Memory([hold]))
        released.future.add_done_callback(lambda _: hold._free())
        try:
            released.begin(lambda a, err: lib.hf_lock_release_start(
                hold._lock, a, err))
        except Exception:
            hold._free()

    async def _end(self, function: Any, hold: Hold, *arguments: Any) -> None:
        """Run a `_start` function of a handle."""
        started = await self._start(
            Memory([hold, arguments]), lambda a, err: function(
                hold._lock or ffi.NULL, *arguments, a, err))
        check(started.future.result(), started.err)

    # Others.

    async def cache_get_or_fill(self, key: Key, load: AsyncLoader, *,
                                ttl: Duration,
                                stale: Optional[Duration] = None,
                                error: Optional[Duration] = None,
                                absent: Optional[Duration] = None,
                                wait: Optional[Duration] = None,
                                tags: Iterable[Key] = ()) -> Optional[bytes]:
        """As Client.cache_get_or_fill(); load() is a coroutine function, which
        runs as a task."""
        memory = Memory()
        filling = AsyncFilling(self._attach(), load)
        memory.append(filling)
        value = memory.out("hf_buffer *")
        options = cache_options(memory, tags, ttl=ttl, stale=stale,
                                error=error, absent=absent, wait=wait)
        client, view = self._raw(), memory.view(key)
        started = await self._start(
            memory, lambda a, err: lib.hf_cache_get_or_fill_start(
                client, view, lib.hf_py_fill, filling.handle, options, value,
                ffi.NULL, a, err))
        status = started.future.result()
        if status not in (Status.OK, Status.NOT_FOUND):
            if filling.raised is not None:
                raise filling.raised
            raise error_of(status, started.err)
        return take_buffer(value)

    def watch(self, pattern: Key) -> "AsyncWatch":
        """Changes of the keys that match, from now on: `async for`."""
        return AsyncWatch(self, pattern)

    def transaction(self) -> "AsyncTransaction":
        """Operations that run together at the end of `async with`."""
        return AsyncTransaction(self)


# -------------------------------------------------------------------- locks


class AsyncLock:
    """A lock that tasks and programs exclude each other by, in the order in
    which they have asked. Several tasks may use one object; each acquires for
    itself."""

    def __init__(self, client: AsyncClient, kind: Kind[Hold]) -> None:
        self._client = client
        self._kind = kind
        self._holds: "Dict[Optional[asyncio.Task[Any]], List[Hold]]" = {}

    @property
    def name(self) -> Key:
        return self._kind.name

    async def acquire(self, timeout: Optional[Duration] = None) -> bool:
        """Wait without a limit, or for `timeout`; 0: try once. True: held until
        release()."""
        hold = await self._take(timeout)
        if hold is None:
            return False
        self._holds.setdefault(asyncio.current_task(), []).append(hold)
        return True

    async def release(self) -> None:
        """Release what this task holds, or, if it holds nothing, what another
        does. Raises LostError if the lock was lost before. It must be awaited,
        unlike that of asyncio.Lock: it sends a request."""
        await self._release(self._pop())

    async def locked(self) -> bool:
        """Does any program hold it?"""
        return await self._client.lock_info(self.name) is not None

    @property
    def current(self) -> Optional[Hold]:
        """What this task holds: its token, and whether it is held still."""
        held = self._holds.get(asyncio.current_task())
        return held[-1] if held else None

    def hold(self, timeout: Optional[Duration] = None) -> "AsyncHeld":
        """For `async with`: wait for at most `timeout`, else WaitTimeout."""
        return AsyncHeld(self, timeout)

    async def __aenter__(self) -> Hold:
        await self.acquire()
        hold = self.current
        assert hold is not None
        return hold

    async def __aexit__(self, kind: Optional[Type[BaseException]],
                        raised: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self._leave(self._pop(), raised)

    def _pop(self) -> Hold:
        mine = asyncio.current_task()
        if mine not in self._holds:
            if not self._holds:
                raise RuntimeError("Lock is not acquired.")
            mine = next(iter(self._holds))
        hold = self._holds[mine].pop()
        if not self._holds[mine]:
            del self._holds[mine]
        return hold

    async def _take(self, wait: Optional[Duration]) -> Optional[Hold]:
        hold, status, err = await self._client._acquire(self._kind, wait)
        if status == Status.OK:
            return hold
        hold._free()
        if status == Status.TIMEOUT:
            return None
        raise error_of(status, err)

    async def _release(self, hold: Hold) -> None:
        started = await self._client._start(
            Memory([hold]), lambda a, err: lib.hf_lock_release_start(
                hold._lock, a, err))
        hold._free()
        check(started.future.result(), started.err)

    async def _leave(self, hold: Hold,
                     raised: Optional[BaseException]) -> None:
        """What the block has raised counts more than a lost lock."""
        try:
            await self._release(hold)
        except Exception:
            if raised is None:
                raise


class AsyncHeld:
    """A lock held for the length of an `async with`."""

    def __init__(self, lock: AsyncLock, timeout: Optional[Duration]) -> None:
        self._lock = lock
        self._timeout = timeout
        self._hold: Optional[Hold] = None

    async def __aenter__(self) -> Hold:
        self._hold = await self._lock._take(self._timeout)
        if self._hold is None:
            raise error_of(Status.TIMEOUT)
        return self._hold

    async def __aexit__(self, kind: Optional[Type[BaseException]],
                        raised: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        assert self._hold is not None
        await self._lock._leave(self._hold, raised)


class AsyncRWLock:
    """Its two sides. A task that writes must not read."""

    def __init__(self, read: AsyncLock, write: AsyncLock) -> None:
        self.read = read
        self.write = write


# ------------------------------------------------------------------- queues


class AsyncJob(JobHold):
    """As Job: its methods are awaited, and `async with`. A cancelled task puts
    the job back as if it had not been taken."""

    _client: AsyncClient

    async def done(self) -> None:
        """It is gone from the queue."""
        await self._end(lib.hf_queue_done_start)

    async def again(self, delay: Duration = 0) -> None:
        """Try it again after a delay; after the last attempt it is a dead
        letter."""
        await self._end(lib.hf_queue_again_start, milliseconds(delay))

    async def defer(self, delay: Duration) -> None:
        """Not now: it goes back as if it had not been taken."""
        await self._end(lib.hf_queue_defer_start, milliseconds(delay))

    async def fail(self) -> None:
        """It is a dead letter, whatever attempts are left."""
        await self._end(lib.hf_queue_fail_start)

    async def release(self) -> None:
        """It goes back to its place, as if it had not been taken."""
        await self._end(lib.hf_lock_release_start)

    async def next(self, outcome: JobOutcome = "done", *, delay: Duration = 0,
                   timeout: Optional[Duration] = None) -> bool:
        """End it and take the next one, in one request; `delay` is for "again"
        and "defer". False: no other was ready within `timeout`. After
        LostError, call it again."""
        try:
            await self._end(lib.hf_queue_next_start, outcome_of(outcome),
                            milliseconds(delay),
                            milliseconds(timeout, lib.HF_FOREVER))
        except WaitTimeout:
            return False
        except asyncio.CancelledError:
            self._client._give_back(self)
            raise
        self._begin()
        return True

    async def _end(self, function: Any, *arguments: Any) -> None:
        self._ended = True
        await self._client._end(function, self, *arguments)

    async def __aenter__(self) -> "AsyncJob":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]],
                        raised: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self._ended:
            return
        if raised is None:
            await self.done()
        elif isinstance(raised, Exception):
            try:
                await self.again(self.backoff())
            except HoldfastError:
                pass  # what the block has raised counts more
        else:
            self._client._give_back(self)


class AsyncQueue:
    """As Queue: `async for` takes jobs."""

    def __init__(self, client: AsyncClient, kind: Kind[AsyncJob]) -> None:
        self._client = client
        self._kind = kind

    @property
    def name(self) -> Key:
        return self._kind.name

    @overload
    async def take(self) -> AsyncJob: ...

    @overload
    async def take(self, timeout: Optional[Duration]
                   ) -> Optional[AsyncJob]: ...

    async def take(self, timeout: Optional[Duration] = None
                   ) -> Optional[AsyncJob]:
        """Wait for a job. None: none was ready within `timeout`."""
        job, status, err = await self._client._acquire(self._kind, timeout)
        if status == Status.OK:
            job._client = self._client
            job._begin()
            return job
        job._free()
        if status == Status.TIMEOUT:
            return None
        raise error_of(status, err)

    async def __aiter__(self) -> AsyncIterator[AsyncJob]:
        while True:
            yield await self.take()


# --------------------------------------------------------------------- once


class AsyncClaim(ClaimHold):
    """As Claim: its methods are awaited, and `async with`."""

    _client: AsyncClient

    async def complete(self, result: Value = b"", status: int = 0) -> None:
        """Store the result; the claim is over. Raises LostError if another has
        claimed the work since."""
        memory = Memory()
        view = memory.view(result)
        started = await self._client._start(
            Memory([self, memory]), lambda a, err: lib.hf_once_complete_start(
                self._lock or ffi.NULL, status, view, a, err))
        check(started.future.result(), started.err)
        self.result = OnceResult(status, encode(result))

    async def release(self) -> None:
        """The work has failed, and may be done again."""
        await self._client._end(lib.hf_lock_release_start, self)
        self._free()

    async def __aenter__(self) -> "AsyncClaim":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]],
                        raised: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self.done or self._lock is None:
            return
        if raised is None:
            await self.release()
        else:
            self._client._give_back(self)


class AsyncOnce:
    """As Once; claim() is awaited."""

    def __init__(self, client: AsyncClient, kind: Kind[AsyncClaim]) -> None:
        self._client = client
        self._kind = kind

    async def claim(self, timeout: Optional[Duration] = None) -> AsyncClaim:
        """Claim the work, or wait for its result. WaitTimeout: another has had
        it for so long; DoubtError: it is in doubt."""
        claim, status, err = await self._client._acquire(self._kind, timeout)
        if status in (Status.OK, Status.CONFLICT):
            claim._client = self._client
            claim._begin(status)
            return claim
        claim._free()
        raise doubt_of(status, err)


# ------------------------------------------------------------------- others


class AsyncFilling:
    """A fill that runs a coroutine as a task."""

    running: "set[asyncio.Task[None]]" = set()

    def __init__(self, loop: asyncio.AbstractEventLoop,
                 load: AsyncLoader) -> None:
        self.handle = ffi.new_handle(self)
        self.loop = loop
        self.load = load
        self.raised: Optional[BaseException] = None

    def run(self, fill: Any) -> None:
        task = self.loop.create_task(self._fill(fill))
        AsyncFilling.running.add(task)
        task.add_done_callback(AsyncFilling.running.discard)

    async def _fill(self, fill: Any) -> None:
        status, value = int(Status.NOT_FOUND), b""
        try:
            loaded = await self.load()
            if loaded is not None:
                status, value = int(Status.OK), encode(loaded)
        except asyncio.CancelledError:
            status = int(Status.CANCELLED)
            raise
        except Exception as raised:
            self.raised = raised
            status = int(Status.UNAVAILABLE)
        finally:
            end_fill(fill, status, value)


class AsyncWatch:
    """`async for change in watch`."""

    def __init__(self, client: AsyncClient, pattern: Key) -> None:
        self._client = client
        self._watch = open_watch(client._raw(), pattern)

    async def next(self) -> Change:
        memory = Memory()
        change = ffi.gc(new_struct("hf_change"), lib.hf_change_free)
        memory.append(change)
        started = await self._client._start(
            memory, lambda a, err: lib.hf_watch_next_start(
                self._watch, change, a, err))
        check(started.future.result(), started.err)
        return change_of(change)

    async def __aiter__(self) -> AsyncIterator[Change]:
        while True:
            yield await self.next()

    def close(self) -> None:
        ffi.release(self._watch)

    async def __aenter__(self) -> "AsyncWatch":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncTransaction(TransactionBase):
    """Executed at the end of `async with`, unless that raises. ConditionError:
    a condition does not hold, and nothing was changed."""

    def __init__(self, client: AsyncClient) -> None:
        super().__init__(client._raw())
        self._owner = client

    async def execute(self) -> None:
        started = await self._owner._start(
            Memory([self]), lambda a, err: lib.hf_txn_exec_start(
                self._txn, a, err))
        self._complete()
        check(started.future.result(), started.err)

    async def __aenter__(self) -> "AsyncTransaction":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]],
                        raised: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if raised is None:
            await self.execute()
