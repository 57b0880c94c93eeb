# SPDX-License-Identifier: Apache-2.0
"""The blocking client, its locks, watches and transactions. No call holds the
GIL while it waits."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import TracebackType
from typing import (Any, Callable, Dict, Iterable, Iterator, List,
                    Optional, Type, TypeVar, overload)

from ._core import (Call, DoubtError, Duration, Key, Memory, Status, Value,
                    bytes_of, check, encode, error_of, ffi, lib, milliseconds,
                    new_error, new_struct, take_buffer)
from ._faces import Operations, QueuedOperations
from ._leases import (ClaimHold, H, Hold, JobHold, JobOutcome, Kind, LockInfo,
                      LockOptions, OnceOptions, claim_maker, look, make_job,
                      make_lock, make_reader, outcome_of, permits_maker,
                      writer_maker)
from ._operations import OnceResult, cache_options
from ._queued import Queued

T = TypeVar("T")
Loader = Callable[[], Optional[Value]]


@dataclass(frozen=True)
class ClientOptions:
    """See hf_client_options in holdfast/client.h."""

    prefix: Optional[str] = None
    request: Optional[Duration] = None  #: longest time of a call; 5 s
    connect: Optional[Duration] = None  #: 2 s
    username: Optional[str] = None
    password: Optional[str] = None
    description: Optional[str] = None  #: what holders() of others shows


def open_client(url: Optional[str], options: ClientOptions) -> Any:
    memory = Memory()
    raw = memory.struct("hf_client_options")
    raw.prefix = memory.text(options.prefix)
    raw.request_ms = milliseconds(options.request)
    raw.connect_ms = milliseconds(options.connect)
    raw.username = memory.text(options.username)
    raw.password = memory.text(options.password)
    raw.description = memory.text(options.description)
    made = ffi.new("hf_client **")
    err = new_error()
    check(lib.hf_client_open(memory.text(url), raw, made, err), err)
    return ffi.gc(made[0], lib.hf_client_close)


def version() -> str:
    """Of the library in use."""
    return str(ffi.string(lib.hf_version()).decode())


class Client(Operations):
    """An open store, shared by all threads of the process.

    `url` None: $HOLDFAST_STORE, else this user's memory; see hf_client_open()
    for others. Use it as a context manager, or close() it.
    """

    def __init__(self, url: Optional[str] = None,
                 options: ClientOptions = ClientOptions()) -> None:
        self._client = open_client(url, options)

    def close(self) -> None:
        """Close it. Waits of other threads end; leases that are held expire by
        themselves."""
        if self._client is not None:
            ffi.release(self._client)
            self._client = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _raw(self) -> Any:
        if self._client is None:
            raise error_of(Status.INVALID)
        return self._client

    def _run(self, call: Call[T]) -> T:
        return call.block(self._raw())

    # Locks.

    def lock(self, name: Key,
             options: LockOptions = LockOptions()) -> "Lock":
        """A lock with the methods of threading.Lock."""
        return Lock(Kind(self._raw(), name, options, make_lock, Hold))

    def rwlock(self, name: Key, options: LockOptions = LockOptions(), *,
               prefer_writers: bool = False) -> "RWLock":
        """Many readers or one writer."""
        return RWLock(
            Lock(Kind(self._raw(), name, options, make_reader, Hold)),
            Lock(Kind(self._raw(), name, options,
                      writer_maker(prefer_writers), Hold)))

    def semaphore(self, name: Key, permits: int, *, weight: int = 1,
                  options: LockOptions = LockOptions()) -> "Lock":
        """At most `permits` at the same time, of which each holder takes
        `weight`."""
        return Lock(Kind(self._raw(), name, options,
                         permits_maker(permits, weight), Hold))

    def lock_info(self, name: Key) -> Optional[LockInfo]:
        """Who holds a lock; None: it is free."""
        return look(self._raw(), name)

    def lock_break(self, name: Key) -> bool:
        """Take a lock away from its holders. False: it was free."""
        memory = Memory()
        return self._run(Call("lock_break", (memory.view(name),), memory,
                              lambda status: status == Status.OK,
                              (Status.NOT_FOUND,)))

    # Leases on work.

    def queue(self, name: Key,
              options: LockOptions = LockOptions()) -> "Queue":
        """Takes jobs of a queue, each under a lease with these options."""
        return Queue(Kind(self._raw(), name, options, make_job, Job))

    def once(self, key: Key, options: OnceOptions = OnceOptions(), *,
             lease: LockOptions = LockOptions()) -> "Once":
        """Work that is done once, and its result."""
        return Once(Kind(self._raw(), key, lease, claim_maker(options), Claim))

    # Others.

    def cache_get_or_fill(self, key: Key, load: Loader, *, ttl: Duration,
                          stale: Optional[Duration] = None,
                          error: Optional[Duration] = None,
                          absent: Optional[Duration] = None,
                          wait: Optional[Duration] = None,
                          tags: Iterable[Key] = ()) -> Optional[bytes]:
        """The value of an entry; if there is none, load() makes it, in one of
        all programs that share the store, and the others wait. load() returns
        None: there is no value, which is remembered for `absent`. What it
        raises is raised here; those that wait get RetryError."""
        memory = Memory()
        fill = Filling(load)
        value = memory.out("hf_buffer *")
        options = cache_options(memory, tags, ttl=ttl, stale=stale,
                                error=error, absent=absent, wait=wait)
        err = new_error()
        status = lib.hf_cache_get_or_fill(
            self._raw(), memory.view(key), lib.hf_py_fill, fill.handle,
            options, value, ffi.NULL, err)
        if status not in (Status.OK, Status.NOT_FOUND):
            if fill.raised is not None:
                raise fill.raised
            raise error_of(status, err)
        return take_buffer(value)

    def keys(self, pattern: Key = b"") -> List[bytes]:
        """The names of keys that match; all by default."""
        memory = Memory()
        found: List[bytes] = []
        handle = ffi.new_handle(found)
        err = new_error()
        check(lib.hf_key_list(self._raw(), memory.view(pattern), 0,
                              lib.hf_py_key, handle, err), err)
        return found

    def watch(self, pattern: Key) -> "Watch":
        """Changes of the keys that match, from now on."""
        return Watch(self._raw(), pattern)

    def transaction(self) -> "Transaction":
        """Operations that run together at the end of `with`."""
        return Transaction(self._raw())


# -------------------------------------------------------------------- locks


class Lock:
    """A lock that threads and programs exclude each other by. Several threads
    may use one object; each acquires for itself."""

    def __init__(self, kind: Kind[Hold]) -> None:
        self._kind = kind
        self._holds: Dict[int, List[Hold]] = {}
        self._guard = threading.Lock()

    @property
    def name(self) -> Key:
        return self._kind.name

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As of threading.Lock: wait without a limit, for `timeout` seconds, or
        not at all. True: held until release()."""
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        wait: Optional[Duration] = None if timeout < 0 else timeout
        hold = self._take(wait if blocking else 0)
        if hold is None:
            return False
        with self._guard:
            self._holds.setdefault(threading.get_ident(), []).append(hold)
        return True

    def release(self) -> None:
        """Release what this thread holds, or, if it holds nothing, what another
        does. Raises LostError if the lock was lost before."""
        release(self._pop())

    def locked(self) -> bool:
        """Does any program hold it?"""
        return look(self._kind.client, self.name) is not None

    @property
    def current(self) -> Optional[Hold]:
        """What this thread holds: its token, and whether it is held still."""
        with self._guard:
            held = self._holds.get(threading.get_ident())
            return held[-1] if held else None

    def hold(self, timeout: Optional[Duration] = None) -> "Held":
        """For `with`: wait for at most `timeout`, else WaitTimeout."""
        return Held(self, timeout)

    def __enter__(self) -> Hold:
        self.acquire()
        hold = self.current
        assert hold is not None
        return hold

    def __exit__(self, kind: Optional[Type[BaseException]],
                 raised: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        leave(self._pop(), raised)

    def _pop(self) -> Hold:
        with self._guard:
            mine = threading.get_ident()
            if mine not in self._holds:
                if not self._holds:
                    raise RuntimeError("release unlocked lock")
                mine = next(iter(self._holds))
            hold = self._holds[mine].pop()
            if not self._holds[mine]:
                del self._holds[mine]
            return hold

    def _take(self, wait: Optional[Duration]) -> Optional[Hold]:
        """None: not within `wait`; a `wait` of None has no limit."""
        hold, status, err = acquired(self._kind, wait)
        if status == Status.OK:
            return hold
        hold._free()
        if status == Status.TIMEOUT:
            return None
        raise error_of(status, err)


class Held:
    """A lock held for the length of a `with`."""

    def __init__(self, lock: Lock, timeout: Optional[Duration]) -> None:
        self._lock = lock
        self._timeout = timeout
        self._hold: Optional[Hold] = None

    def __enter__(self) -> Hold:
        self._hold = self._lock._take(self._timeout)
        if self._hold is None:
            raise error_of(Status.TIMEOUT)
        return self._hold

    def __exit__(self, kind: Optional[Type[BaseException]],
                 raised: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        assert self._hold is not None
        leave(self._hold, raised)


@dataclass(frozen=True)
class RWLock:
    """Its two sides. A thread that writes must not read."""

    read: Lock
    write: Lock


def acquired(kind: Kind[H], wait: Optional[Duration]) -> "tuple[H, int, Any]":
    """A handle, and what its acquire has returned. None: without a limit."""
    hold = kind.handle()
    try:
        return (hold, *acquire(hold, milliseconds(wait, lib.HF_FOREVER)))
    except BaseException:
        hold._free()
        raise


def acquire(hold: Hold, wait_ms: int) -> "tuple[int, Any]":
    """The main thread waits in another one, so that Ctrl-C ends the wait."""
    err = new_error()
    if wait_ms > 0 and \
            threading.current_thread() is threading.main_thread():
        status = lib.hf_lock_try(hold._lock, err)
        if status == Status.HELD:
            return _acquire_interruptibly(hold, wait_ms)
        return status, err
    return lib.hf_lock_acquire(hold._lock, wait_ms, err), err


def _acquire_interruptibly(hold: Hold, wait_ms: int) -> "tuple[int, Any]":
    err = new_error()
    got: List[int] = []
    turn = threading.Lock()  # the first to take it: the wait, or its end
    ended = threading.Event()

    def wait() -> None:
        if turn.acquire(blocking=False):
            got.append(lib.hf_lock_acquire(hold._lock, wait_ms, err))
            ended.set()

    try:
        threading.Thread(target=wait, daemon=True).start()
        # An interrupted Thread.join() takes the thread for ended (bpo-45274).
        ended.wait()
    except BaseException:
        # The interrupt may have come before the thread has begun.
        while not turn.acquire(blocking=False) and not ended.wait(0.01):
            lib.hf_lock_interrupt(hold._lock, new_error())
        raise
    return got[0], err


def release(hold: Hold) -> None:
    err = new_error()
    status = lib.hf_lock_release(hold._lock, err)
    hold._free()
    check(status, err)


def leave(hold: Hold, raised: Optional[object]) -> None:
    """Release it; what the block has raised counts more than a lost lock."""
    if raised is None and hold._lock is not None:
        release(hold)
    else:
        hold._free()


# ------------------------------------------------------------------- queues


class Job(JobHold):
    """A job that was taken. As a context manager it is done at the end of the
    block. If that raises, it is tried again after backoff(); after
    KeyboardInterrupt and its like it goes back as if it had not been taken, as
    does one that is forgotten.

    Ending it raises LostError if the lease had ended and the job is back in the
    queue, or another worker's.
    """

    def done(self) -> None:
        """It is gone from the queue."""
        self._end(lib.hf_queue_done)

    def again(self, delay: Duration = 0) -> None:
        """Try it again after a delay; after the last attempt it is a dead
        letter."""
        self._end(lib.hf_queue_again, milliseconds(delay))

    def defer(self, delay: Duration) -> None:
        """Not now: it goes back as if it had not been taken."""
        self._end(lib.hf_queue_defer, milliseconds(delay))

    def fail(self) -> None:
        """It is a dead letter, whatever attempts are left."""
        self._end(lib.hf_queue_fail)

    def release(self) -> None:
        """It goes back to its place, as if it had not been taken."""
        self._end(lib.hf_lock_release)

    def next(self, outcome: JobOutcome = "done", *, delay: Duration = 0,
             timeout: Optional[Duration] = None) -> bool:
        """End it and take the next one, in one request; `delay` is for "again"
        and "defer". False: no other was ready within `timeout`. After
        LostError, call it again."""
        wait_ms = milliseconds(timeout, lib.HF_FOREVER)
        self._ended = True
        status, err = end_and_take(self, outcome_of(outcome),
                                   milliseconds(delay), wait_ms)
        if status == Status.TIMEOUT:
            return False
        check(status, err)
        self._begin()
        return True

    def _end(self, function: Any, *arguments: Any) -> None:
        self._ended = True
        err = new_error()
        check(function(self._lock or ffi.NULL, *arguments, err), err)

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 raised: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if not self._ended and raised is None:
                self.done()
            elif not self._ended and isinstance(raised, Exception):
                lib.hf_queue_again(self._lock, milliseconds(self.backoff()),
                                   ffi.NULL)
        finally:
            self._free()


class Queue:
    """A queue, as its workers see it. Each job is done at least once, and at
    any time at most one worker has a valid lease on it. Iterating takes jobs,
    and waits for them without a limit."""

    def __init__(self, kind: Kind[Job]) -> None:
        self._kind = kind

    @property
    def name(self) -> Key:
        return self._kind.name

    @overload
    def take(self) -> Job: ...

    @overload
    def take(self, timeout: Optional[Duration]) -> Optional[Job]: ...

    def take(self, timeout: Optional[Duration] = None) -> Optional[Job]:
        """Wait for a job. None: no one was ready within `timeout`."""
        job, status, err = acquired(self._kind, timeout)
        if status == Status.OK:
            job._begin()
            return job
        job._free()
        if status == Status.TIMEOUT:
            return None
        raise error_of(status, err)

    def __iter__(self) -> Iterator[Job]:
        while True:
            yield self.take()


def end_and_take(job: JobHold, outcome: int, delay_ms: int,
                 wait_ms: int) -> "tuple[int, Any]":
    """The main thread waits in another one, as in acquire()."""
    err = new_error()
    main = threading.current_thread() is threading.main_thread()
    status = lib.hf_queue_next(job._lock or ffi.NULL, outcome, delay_ms,
                               0 if main else wait_ms, err)
    if main and status == Status.TIMEOUT and wait_ms > 0:
        return _acquire_interruptibly(job, wait_ms)
    return status, err


# --------------------------------------------------------------------- once


class Claim(ClaimHold):
    """The claim of a piece of work; true if the work is the caller's to do.
    As a context manager it is released at the end of the block, which says that
    the work has failed and may be done again, unless it was completed."""

    def complete(self, result: Value = b"", status: int = 0) -> None:
        """Store the result; the claim is over. Raises LostError if another has
        claimed the work since."""
        memory = Memory()
        err = new_error()
        check(lib.hf_once_complete(self._lock or ffi.NULL, status,
                                   memory.view(result), err), err)
        self.result = OnceResult(status, encode(result))

    def release(self) -> None:
        """The work has failed, and may be done again."""
        release(self)

    def __enter__(self) -> "Claim":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 raised: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        leave(self, self.result or raised)


class Once:
    """Work that is done once, with a result that is kept. See
    holdfast/once.h."""

    def __init__(self, kind: Kind[Claim]) -> None:
        self._kind = kind

    def claim(self, timeout: Optional[Duration] = None) -> Claim:
        """Claim the work, or wait for its result. WaitTimeout: another has had
        it for so long; DoubtError: it is in doubt."""
        claim, status, err = acquired(self._kind, timeout)
        if status in (Status.OK, Status.CONFLICT):
            claim._begin(status)
            return claim
        claim._free()
        raise doubt_of(status, err)


def doubt_of(status: int, err: Any) -> Exception:
    failed = error_of(status, err)
    return DoubtError(status, failed.message) if status == Status.EXPIRED \
        else failed


# ------------------------------------------------------------------- caches


class Filling:
    """A fill that calls a function of Python."""

    def __init__(self, load: Loader) -> None:
        self.handle = ffi.new_handle(self)
        self.load = load
        self.raised: Optional[BaseException] = None

    def run(self, fill: Any) -> None:
        status, value = int(Status.NOT_FOUND), b""
        try:
            loaded = self.load()
            if loaded is not None:
                status, value = int(Status.OK), encode(loaded)
        except BaseException as raised:
            self.raised = raised
            status = int(Status.UNAVAILABLE)
        end_fill(fill, status, value)


def end_fill(fill: Any, status: int, value: bytes) -> None:
    memory = Memory()
    lib.hf_cache_fill_done(fill, status, memory.view(value), ffi.NULL)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def hf_py_fill(user: Any, fill: Any) -> None:
    ffi.from_handle(user).run(fill)


@ffi.def_extern(error=1)  # type: ignore[untyped-decorator]
def hf_py_key(user: Any, key: Any) -> int:
    ffi.from_handle(user).append(bytes_of(key))
    return 0


# ------------------------------------------------------------------ watches

CHANGES = {1: "written", 2: "deleted", 3: "expired", 4: "gap"}


@dataclass(frozen=True)
class Change:
    """`kind` is "written", "deleted", "expired" or "gap". A gap has no key: any
    watched key may have changed."""

    kind: str
    key: bytes


def open_watch(client: Any, pattern: Key) -> Any:
    memory = Memory()
    made = ffi.new("hf_watch **")
    err = new_error()
    check(lib.hf_watch_open(client, memory.view(pattern), ffi.NULL, made, err),
          err)
    return ffi.gc(made[0], lib.hf_watch_close)


def change_of(raw: Any) -> Change:
    return Change(CHANGES.get(raw.kind, "gap"), bytes_of(raw.key))


class Watch:
    """`for change in watch` waits for each; next(timeout) for one."""

    #: s; so that Ctrl-C ends a wait
    SLICE = 0.25

    def __init__(self, client: Any, pattern: Key) -> None:
        self._watch = open_watch(client, pattern)
        self._change = ffi.gc(new_struct("hf_change"), lib.hf_change_free)

    def next(self, timeout: Optional[float] = None) -> Optional[Change]:
        """None: there was no change within `timeout` seconds."""
        while True:
            part = self.SLICE if timeout is None else \
                min(self.SLICE, max(timeout, 0))
            err = new_error()
            status = lib.hf_watch_next(self._watch, self._change,
                                       milliseconds(part), err)
            if status == Status.OK:
                return change_of(self._change)
            if status != Status.TIMEOUT:
                raise error_of(status, err)
            if timeout is not None:
                timeout -= part
                if timeout <= 0:
                    return None

    def __iter__(self) -> Iterator[Change]:
        while True:
            change = self.next()
            if change is not None:
                yield change

    def close(self) -> None:
        ffi.release(self._watch)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# ------------------------------------------------------------- transactions


class TransactionBase(QueuedOperations):
    """Conditions, and operations that are queued by the methods of a client;
    each returns a Queued, whose `result` is known afterwards."""

    def __init__(self, client: Any) -> None:
        made = ffi.new("hf_txn **")
        err = new_error()
        check(lib.hf_txn_new(client, ffi.NULL, made, err), err)
        self._client = client
        self._txn = ffi.gc(made[0], lib.hf_txn_free)
        self._queued: List[Queued[Any]] = []

    def if_exists(self, key: Key) -> None:
        self._condition(lib.hf_txn_if_exists, key)

    def if_absent(self, key: Key) -> None:
        self._condition(lib.hf_txn_if_absent, key)

    def if_value(self, key: Key, value: Value) -> None:
        memory = Memory()
        self._condition(lib.hf_txn_if_value, key, memory.view(value))

    def if_field(self, key: Key, field: Key, value: Optional[Value]) -> None:
        """None: the field does not exist."""
        memory = Memory()
        self._condition(lib.hf_txn_if_field, key, memory.view(field),
                        memory.maybe(value))

    def if_held(self, hold: Hold) -> None:
        """Its lease is held when the transaction is executed; the hold may end
        before. LostError: it was lost already."""
        err = new_error()
        check(lib.hf_txn_if_held(self._txn, hold._lock or ffi.NULL, err), err)

    def if_token(self, name: Key, token: int) -> None:
        """The lock is held with this token, which its holder has passed on."""
        self._condition(lib.hf_txn_if_token, name, token)

    def if_fence(self, key: Key, token: int) -> None:
        """No fenced write of the key with a higher token came before."""
        self._condition(lib.hf_txn_if_fence, key, token)

    @property
    def failed(self) -> Optional[int]:
        """The number of the condition or operation that failed."""
        number = int(lib.hf_txn_failed(self._txn))
        return None if number == lib.HF_TXN_NONE else number

    def _condition(self, function: Any, key: Key, *arguments: Any) -> None:
        memory = Memory()
        err = new_error()
        check(function(self._txn, memory.view(key), *arguments, err), err)

    def _queue(self, call: Call[T]) -> Queued[T]:
        queue = new_struct("hf_async")
        queue.txn = self._txn
        err = new_error()
        check(call.start(self._client, queue, err), err)
        queued = Queued(call)
        self._queued.append(queued)
        return queued

    def _complete(self) -> None:
        for index, queued in enumerate(self._queued):
            queued._complete(lib.hf_txn_status(self._txn, index, ffi.NULL))


class Transaction(TransactionBase):
    """Executed at the end of `with`, unless that raises. ConditionError: a
    condition does not hold, and nothing was changed."""

    def execute(self) -> None:
        err = new_error()
        status = lib.hf_txn_exec(self._txn, err)
        self._complete()
        check(status, err)

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 raised: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if raised is None:
            self.execute()
