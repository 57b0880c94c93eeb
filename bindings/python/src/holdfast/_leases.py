# SPDX-License-Identifier: Apache-2.0
"""Handles of locks, as both kinds of clients use them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Generic, Literal, Optional, Type, TypeVar

from ._core import (Duration, Key, Memory, Status, Value, bytes_of, check,
                    error_of, ffi, lib, milliseconds, new_error, new_struct)
from ._operations import JobInfo, OnceResult, job_of

OnLost = Callable[[Status], object]
H = TypeVar("H", bound="Hold")
JobOutcome = Literal["done", "again", "defer", "fail"]


@dataclass(frozen=True)
class LockOptions:
    """How locks are acquired; see hf_lock_options in holdfast/lock.h. Times are
    seconds or timedelta."""

    ttl: Optional[Duration] = None  #: lease; 30 s
    max_hold: Optional[Duration] = None  #: lost after this time
    lost_margin: Optional[Duration] = None  #: report a loss earlier
    min_hold: Optional[Duration] = None  #: no one else gets it before
    delay: Optional[Duration] = None  #: after a holder that vanished
    renew: bool = True  #: in the background
    priority: int = 0  #: 0..4; a release serves the highest first
    #: called as soon as the lock is lost, on a thread of the library, or of an
    #: AsyncClient on its loop
    on_lost: Optional[OnLost] = None


@dataclass(frozen=True)
class LockInfo:
    """Who holds a lock."""

    owner: bytes
    remaining: float  #: seconds of the lease; math.inf: it does not expire
    token: int  #: the holder's fencing token; 0: not known
    holders: int
    waiters: int


class Kind(Generic[H]):
    """How the handles of one name are made, of which each is in a Hold."""

    def __init__(self, client: Any, name: Key, options: LockOptions,
                 make: "Callable[[Any, Any, Any, Any, Any], int]",
                 hold: Type[H]) -> None:
        self.client = client  # hf_client *
        self.name = name
        self.options = options
        self._make = make
        self._hold = hold

    def handle(self, on_lost: Optional[OnLost] = None) -> H:
        """One that is not acquired."""
        memory = Memory()
        hold = self._hold(memory, on_lost or self.options.on_lost)
        made = ffi.new("hf_lock *[2]")
        err = new_error()
        check(self._make(self.client, memory.view(self.name),
                         self._raw(memory, hold), made, err), err)
        hold._adopt(made[0], made[1])
        return hold

    def _raw(self, memory: Memory, hold: "Hold") -> Any:
        raw = memory.struct("hf_lock_options")
        given = self.options
        raw.ttl_ms = milliseconds(given.ttl)
        raw.max_hold_ms = milliseconds(given.max_hold)
        raw.lost_margin_ms = milliseconds(given.lost_margin)
        raw.min_hold_ms = milliseconds(given.min_hold)
        raw.delay_ms = milliseconds(given.delay)
        raw.flags = 0 if given.renew else lib.HF_LOCK_NO_RENEW
        raw.priority = given.priority
        if hold._on_lost is not None:
            raw.on_lost = lib.hf_py_lost
            raw.user = hold._self
        return raw


def make_lock(client: Any, name: Any, options: Any, made: Any,
              err: Any) -> int:
    status: int = lib.hf_lock_new(client, name, options, made, err)
    return status


def make_reader(client: Any, name: Any, options: Any, made: Any,
                err: Any) -> int:
    status: int = lib.hf_rwlock_new(client, name, 0, options, made, ffi.NULL,
                                    err)
    return status


def writer_maker(prefer_writers: bool
                 ) -> "Callable[[Any, Any, Any, Any, Any], int]":
    flags = lib.HF_RWLOCK_PREFER_WRITERS if prefer_writers else 0

    def make(client: Any, name: Any, options: Any, made: Any, err: Any) -> int:
        status: int = lib.hf_rwlock_new(client, name, flags, options, made + 1,
                                        made, err)
        return status

    return make


def permits_maker(permits: int, weight: int
                  ) -> "Callable[[Any, Any, Any, Any, Any], int]":
    def make(client: Any, name: Any, options: Any, made: Any, err: Any) -> int:
        status: int = lib.hf_semaphore_new_weighted(
            client, name, permits, weight, options, made, err)
        return status

    return make


def make_job(client: Any, name: Any, options: Any, made: Any, err: Any) -> int:
    status: int = lib.hf_queue_new(client, name, options, made, err)
    return status


@dataclass(frozen=True)
class OnceOptions:
    """What a piece of work is; see hf_once_options in holdfast/once.h."""

    fingerprint: Value = b""  #: of the request; another one is a UsageError
    keep: Optional[Duration] = None  #: the record; 24 h, or twice the period
    period: Optional[Duration] = None  #: it is done once in each
    early: Optional[Duration] = None  #: than a multiple of the period
    retry_doubt: bool = False  #: claim work in doubt: it may be done twice


def claim_maker(given: OnceOptions
                ) -> "Callable[[Any, Any, Any, Any, Any], int]":
    def make(client: Any, name: Any, options: Any, made: Any, err: Any) -> int:
        memory = Memory()
        once = memory.struct("hf_once_options")
        once.flags = lib.HF_ONCE_RETRY_DOUBT if given.retry_doubt else 0
        once.fingerprint = memory.view(given.fingerprint)
        once.keep_ms = milliseconds(given.keep)
        once.period_ms = milliseconds(given.period)
        once.early_ms = milliseconds(given.early)
        status: int = lib.hf_once_new(client, name, once, options, made, err)
        return status

    return make


class Hold:
    """A lock, or permits, as one owner holds them. Check `held` before each
    effect, and pass `token` with each write."""

    def __init__(self, memory: Memory, on_lost: Optional[OnLost]) -> None:
        self._memory = memory
        self._on_lost = on_lost
        self._self = ffi.new_handle(self) if on_lost else None
        self._lock: Any = None
        self._pair: Any = None

    def _adopt(self, lock: Any, pair: Any) -> None:
        # Freeing a lock that is held releases it.
        self._lock = ffi.gc(lock, lib.hf_lock_free)
        if pair != ffi.NULL:
            self._pair = ffi.gc(pair, lib.hf_lock_free)

    @property
    def held(self) -> bool:
        """Is it held and valid? A comparison of two numbers."""
        return self._lock is not None and bool(lib.hf_lock_is_held(self._lock))

    def __bool__(self) -> bool:
        return self.held

    @property
    def token(self) -> int:
        """The fencing token: larger than that of every earlier holder."""
        return int(lib.hf_lock_token(self._lock)) if self._lock else 0

    @property
    def remaining(self) -> float:
        """How long `held` stays true without another renewal, seconds."""
        return lib.hf_lock_remaining_ms(self._lock) / 1000 if self._lock else 0

    @property
    def owner(self) -> str:
        """The owner id in the store."""
        text = ffi.new("char[]", int(lib.HF_OWNER_SIZE))
        if self._lock:
            lib.hf_lock_owner(self._lock, text)
        return str(ffi.string(text).decode())

    def _free(self) -> None:
        for one in (self._lock, self._pair):
            if one is not None:
                ffi.release(one)
        self._lock = self._pair = None


class JobHold(Hold):
    """A job that was taken, as one worker has it, until it is ended."""

    #: as it was when it was taken
    info: JobInfo
    _ended = True

    def _begin(self) -> None:
        job = new_struct("hf_job")
        err = new_error()
        check(lib.hf_queue_job(self._lock, job, err), err)
        self.info = job_of(job)
        self._ended = False

    @property
    def id(self) -> bytes:
        return self.info.id

    @property
    def payload(self) -> bytes:
        return self.info.payload

    def backoff(self, first: Duration = 1, most: Duration = 3600) -> float:
        """Seconds: `first`, doubled for each attempt after the first, up to
        `most`. For again()."""
        job = new_struct("hf_job")
        job.attempt = self.info.attempt
        return int(lib.hf_queue_backoff(job, milliseconds(first),
                                        milliseconds(most))) / 1000


def outcome_of(outcome: JobOutcome) -> int:
    return int(getattr(lib, f"HF_QUEUE_{outcome.upper()}"))


class ClaimHold(Hold):
    """The claim of a piece of work, or the result of what was done before."""

    #: of the work, once it is done
    result: Optional[OnceResult] = None

    @property
    def done(self) -> bool:
        """Is it done? If not, it is the caller's to do."""
        return self.result is not None

    def _begin(self, status: int) -> None:
        if status == Status.OK:
            return
        number, text = ffi.new("int32_t *"), ffi.new("hf_bytes *")
        err = new_error()
        check(lib.hf_once_result(self._lock, number, text, err), err)
        self.result = OnceResult(int(number[0]), bytes_of(text))


@ffi.def_extern()  # type: ignore[untyped-decorator]
def hf_py_lost(lock: Any, reason: int, user: Any) -> None:
    hold: Hold = ffi.from_handle(user)
    if hold._on_lost is not None:
        hold._on_lost(Status(reason))


def look(client: Any, name: Key) -> Optional[LockInfo]:
    """Who holds a lock; None: it is free."""
    memory = Memory()
    info = memory.struct("hf_lock_info")
    err = new_error()
    status = lib.hf_lock_inspect(client, memory.view(name), info, err)
    return info_of(status, info, err)


def info_of(status: int, info: Any, err: Any) -> Optional[LockInfo]:
    if status == Status.NOT_FOUND:
        return None
    if status != Status.OK:
        raise error_of(status, err)
    owner = bytes(ffi.buffer(info.owner, min(info.owner_size,
                                             lib.HF_LOCK_INFO_OWNER_MAX)))
    remaining = math.inf if info.remaining_ms < 0 else info.remaining_ms / 1000
    return LockInfo(owner, remaining, int(info.token), int(info.holders),
                    int(info.waiters))
