# SPDX-License-Identifier: Apache-2.0
"""Locks, values, hashes, timelines and caches that programs share: on an
embedded store without a server, or on Redis and Valkey.

    with holdfast.Client() as store, store.lock("backup").hold(5) as held:
        store.value_put_fenced("backup:last", "today", held.token)

Keys are str (encoded as UTF-8) or bytes, values are returned as bytes.
Durations are seconds or timedelta. holdfast.aio is for asyncio.
"""

from ._client import (Change, Client, ClientOptions, Lock, RWLock, Transaction,
                      Watch, version)
from ._core import (ConditionError, FatalError, HeldError, HoldfastError,
                    LostError, RetryError, Status, UnknownOutcomeError,
                    UsageError, WaitTimeout)
from ._leases import Hold, LockInfo, LockOptions
from ._operations import (CasResult, Item, Page, Revised, RevisedResult,
                          SetResult, Trimmed)
from ._queued import Queued
from .aio import AsyncClient, AsyncLock, AsyncRWLock

__all__ = [
    "AsyncClient", "AsyncLock", "AsyncRWLock", "CasResult", "Change", "Client",
    "ClientOptions", "ConditionError", "FatalError", "HeldError", "Hold",
    "HoldfastError", "Item", "Lock", "LockInfo", "LockOptions", "LostError",
    "Page", "Queued", "RWLock", "RetryError", "Revised", "RevisedResult",
    "SetResult", "Status", "Transaction", "Trimmed", "UnknownOutcomeError",
    "UsageError", "WaitTimeout", "Watch", "version"]
