# SPDX-License-Identifier: Apache-2.0
"""Locks, work queues, values, hashes, timelines and caches that programs share:
on an embedded store without a server, or on Redis and Valkey.

    with holdfast.Client() as store, store.lock("backup").hold(5) as held:
        store.value_put_fenced("backup:last", "today", held.token)

Keys are str (encoded as UTF-8) or bytes, values are returned as bytes.
Durations are seconds or timedelta. holdfast.aio is for asyncio.
"""

from ._client import (Change, Claim, Client, ClientOptions, Job, Lock, Once,
                      Queue, RWLock, Transaction, Watch, version)
from ._core import (ConditionError, DoubtError, FatalError, HeldError,
                    HoldfastError, LostError, RetryError, Status,
                    UnknownOutcomeError, UsageError, WaitTimeout)
from ._leases import Hold, LockInfo, LockOptions, OnceOptions
from ._operations import (CasResult, Item, JobInfo, OnceInfo, OnceResult, Page,
                          QueueInfo, RankMember, RankPlace, Revised,
                          RevisedResult, SetPage, SetResult, Trimmed)
from ._queued import Queued
from .aio import (AsyncClaim, AsyncClient, AsyncJob, AsyncLock, AsyncOnce,
                  AsyncQueue, AsyncRWLock)

__all__ = [
    "AsyncClaim", "AsyncClient", "AsyncJob", "AsyncLock", "AsyncOnce",
    "AsyncQueue", "AsyncRWLock", "CasResult", "Change", "Claim", "Client",
    "ClientOptions", "ConditionError", "DoubtError", "FatalError", "HeldError",
    "Hold", "HoldfastError", "Item", "Job", "JobInfo", "Lock", "LockInfo",
    "LockOptions", "LostError", "Once", "OnceInfo", "OnceOptions",
    "OnceResult", "Page", "Queue", "QueueInfo", "Queued", "RWLock",
    "RankMember", "RankPlace", "RetryError", "Revised", "RevisedResult",
    "SetPage", "SetResult", "Status", "Transaction", "Trimmed",
    "UnknownOutcomeError", "UsageError", "WaitTimeout", "Watch", "version"]
