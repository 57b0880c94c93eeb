# SPDX-License-Identifier: Apache-2.0
"""Made by make_faces.py from _operations.py: change that, and run it again."""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, TypeVar

from . import _operations as operations
from ._core import Attributes, Call, Duration, Fields, Instant, Key, Value
from ._operations import (CasResult, Item, JobInfo, JobState, OnceInfo, Page,
                          QueueInfo, RankMember, RankPlace, Revised,
                          RevisedResult, SetPage, SetResult, Trimmed)
from ._queued import Queued

T = TypeVar("T")


class Operations:
    """Each runs when it is called, on this thread."""

    def _run(self, call: Call[T]) -> T:
        raise NotImplementedError

    def value_set(self, key: Key, value: Value, *,
            ttl: Optional[Duration]=None, expires_at: Optional[Instant]=None,
            nx: bool=False, xx: bool=False, keep_ttl: bool=False,
            get: bool=False) -> SetResult:
        """Set a value and its expiry in one step: SET of Redis. `nx`: only if
        the key does not exist; `xx`: only if it does; `get`: return the
        previous value. False: `nx` or `xx` refused it."""
        return self._run(operations.value_set(key, value, ttl=ttl,
                expires_at=expires_at, nx=nx, xx=xx, keep_ttl=keep_ttl,
                get=get))

    def value_get(self, key: Key) -> Optional[bytes]:
        """Read a value. None: no such key."""
        return self._run(operations.value_get(key))

    def value_get_expire(self, key: Key, *, ttl: Optional[Duration]=None,
            expires_at: Optional[Instant]=None,
            persist: bool=False) -> Optional[bytes]:
        """Read a value and set its expiry in one step: GETEX of Redis. Exactly
        one of the three is given. None: no such key."""
        return self._run(operations.value_get_expire(key, ttl=ttl,
                expires_at=expires_at, persist=persist))

    def value_delete(self, key: Key) -> bool:
        """Delete a value. False: no such key."""
        return self._run(operations.value_delete(key))

    def value_cas(self, key: Key, expected: Optional[Value], value: Value, *,
            ttl: Optional[Duration]=None, once: bool=False) -> CasResult:
        """Compare and set: replace a value only if it is `expected`; None:
        only if the key does not exist. It keeps its time to live unless `ttl`
        is given. `once`: do not send it again if the reply is lost."""
        return self._run(operations.value_cas(key, expected, value, ttl=ttl,
                once=once))

    def value_delete_if(self, key: Key, expected: Value) -> CasResult:
        """Compare and delete."""
        return self._run(operations.value_delete_if(key, expected))

    def value_expire_if(self, key: Key, expected: Value, *,
            ttl: Optional[Duration]=None, expires_at: Optional[Instant]=None,
            persist: bool=False) -> CasResult:
        """Compare and expire: exactly one of the three new expiries is
        given."""
        return self._run(operations.value_expire_if(key, expected, ttl=ttl,
                expires_at=expires_at, persist=persist))

    def value_append(self, key: Key, value: Value) -> int:
        """Append bytes to a value; its size afterwards."""
        return self._run(operations.value_append(key, value))

    def value_add(self, key: Key, delta: int=1, *, min: Optional[int]=None,
            max: Optional[int]=None,
            ttl: Optional[Duration]=None) -> Optional[int]:
        """Add to a counter; the result. None: it would be out of bounds. `ttl`
        is that of a key that is created."""
        return self._run(operations.value_add(key, delta, min=min, max=max,
                ttl=ttl))

    def value_put_fenced(self, key: Key, value: Value, token: int, *,
            ttl: Optional[Duration]=None, keep_ttl: bool=False) -> bool:
        """Set a value with the fencing token of the lock that protects it.
        False: a newer holder has written."""
        return self._run(operations.value_put_fenced(key, value, token,
                ttl=ttl, keep_ttl=keep_ttl))

    def value_get_revised(self, key: Key) -> Optional[Revised]:
        """Read a value and its revision, a number that never comes again.
        None: no such key."""
        return self._run(operations.value_get_revised(key))

    def value_put_revised(self, key: Key, value: Value,
            expected: Optional[int], *, ttl: Optional[Duration]=None,
            keep_ttl: bool=False) -> RevisedResult:
        """Set a value if it has this revision; 0: if the key does not exist;
        None: in any case."""
        return self._run(operations.value_put_revised(key, value, expected,
                ttl=ttl, keep_ttl=keep_ttl))

    def value_delete_revised(self, key: Key,
            expected: Optional[int]) -> RevisedResult:
        """Delete a value if it has this revision; None: in any case."""
        return self._run(operations.value_delete_revised(key, expected))

    def hash_put(self, key: Key, fields: Fields, *,
            ttl: Optional[Duration]=None, field_ttl: Optional[Duration]=None,
            nx: bool=False, xx: bool=False, replace: bool=False,
            persist: bool=False) -> bool:
        """Write fields, and the time to live of the key (`ttl`) or of these
        fields (`field_ttl`), in one step. `replace`: delete all other fields;
        `persist`: remove the key's time to live. False: `nx` or `xx` refused
        it."""
        return self._run(operations.hash_put(key, fields, ttl=ttl,
                field_ttl=field_ttl, nx=nx, xx=xx, replace=replace,
                persist=persist))

    def hash_put_fenced(self, key: Key, fields: Fields, token: int, *,
            ttl: Optional[Duration]=None, replace: bool=False) -> bool:
        """Write fields with the fencing token of the lock that protects the
        hash. False: a newer holder has written."""
        return self._run(operations.hash_put_fenced(key, fields, token,
                ttl=ttl, replace=replace))

    def hash_get(self, key: Key, field: Key) -> Optional[bytes]:
        """Read a field. None: no such key or field."""
        return self._run(operations.hash_get(key, field))

    def hash_get_fields(self, key: Key, names: Iterable[Key]) -> Dict[Key,
            Optional[bytes]]:
        """Read some fields; None for those that do not exist."""
        return self._run(operations.hash_get_fields(key, names))

    def hash_get_all(self, key: Key) -> Dict[bytes, bytes]:
        """Read all fields; empty: no such key."""
        return self._run(operations.hash_get_all(key))

    def hash_cas(self, key: Key, field: Key, expected: Optional[Value],
            value: Value, *, ttl: Optional[Duration]=None,
            once: bool=False) -> CasResult:
        """Compare and set a field; None: only if it does not exist. `ttl` is
        the key's."""
        return self._run(operations.hash_cas(key, field, expected, value,
                ttl=ttl, once=once))

    def hash_add(self, key: Key, field: Key, delta: int=1, *,
            min: Optional[int]=None, max: Optional[int]=None,
            ttl: Optional[Duration]=None) -> Optional[int]:
        """Add to a field; the result. None: it would be out of bounds."""
        return self._run(operations.hash_add(key, field, delta, min=min,
                max=max, ttl=ttl))

    def hash_delete_fields(self, key: Key, names: Iterable[Key]) -> int:
        """Delete fields; how many existed."""
        return self._run(operations.hash_delete_fields(key, names))

    def hash_expire_fields(self, key: Key, names: Iterable[Key],
            ttl: Optional[Duration]) -> int:
        """Set the time to live of fields; None: they no longer expire. How
        many exist."""
        return self._run(operations.hash_expire_fields(key, names, ttl))

    def hash_ttl_fields(self, key: Key, names: Iterable[Key]) -> Dict[Key,
            Optional[float]]:
        """The times to live of fields, seconds: math.inf for those that do not
        expire, None for those that do not exist."""
        return self._run(operations.hash_ttl_fields(key, names))

    def hash_delete(self, key: Key) -> bool:
        """Delete a hash. False: no such key."""
        return self._run(operations.hash_delete(key))

    def key_ttl(self, key: Key) -> Optional[float]:
        """The time to live of a key, seconds; math.inf: it does not expire;
        None: no such key."""
        return self._run(operations.key_ttl(key))

    def key_expire(self, key: Key, ttl: Optional[Duration]) -> bool:
        """Set the time to live of a key; None: it no longer expires. False: no
        such key."""
        return self._run(operations.key_expire(key, ttl))

    def key_type(self, key: Key) -> Optional[str]:
        """What a key is: "string", "hash", "timeline", "lock" ... None: no
        such key."""
        return self._run(operations.key_type(key))

    def key_delete(self, key: Key) -> bool:
        """Delete a key of any type, with what belongs to it. False: no such
        key."""
        return self._run(operations.key_delete(key))

    def timeline_add(self, key: Key, id: Key, payload: Value, ttl: Duration, *,
            at: Optional[Instant]=None, attributes: Optional[Attributes]=None,
            nx: bool=False) -> bool:
        """Add an item that lives for `ttl`, or replace the one with its id.
        `at`: its time; None: now. False: `nx`, and there is one."""
        return self._run(operations.timeline_add(key, id, payload, ttl, at=at,
                attributes=attributes, nx=nx))

    def timeline_get(self, key: Key, id: Key) -> Optional[Item]:
        """Read an item. None: there is none, or it has expired."""
        return self._run(operations.timeline_get(key, id))

    def timeline_remove(self, key: Key, id: Key) -> bool:
        """Remove an item. False: there was none."""
        return self._run(operations.timeline_remove(key, id))

    def timeline_count(self, key: Key) -> int:
        """Count the items that have not expired."""
        return self._run(operations.timeline_count(key))

    def timeline_page(self, key: Key, *, limit: int=0, offset: int=0,
            cursor: Value=b'', ascending: bool=False, order_by: Key=b'',
            min: Optional[float]=None, max: Optional[float]=None,
            since: Optional[Instant]=None,
            until: Optional[Instant]=None) -> Page:
        """Read items, newest first, or in the order of an attribute
        (`order_by`, from `min` to `max`). `cursor`: Page.next of the page
        before. `limit` 0: 20. `since`, `until`: only items of these times."""
        return self._run(operations.timeline_page(key, limit=limit,
                offset=offset, cursor=cursor, ascending=ascending,
                order_by=order_by, min=min, max=max, since=since,
                until=until))

    def timeline_update(self, key: Key, id: Key, *,
            payload: Optional[Value]=None, at: Optional[Instant]=None,
            ttl: Optional[Duration]=None,
            attributes: Optional[Attributes]=None,
            replace: bool=False) -> bool:
        """Change what is given of an item. `replace`: drop the other
        attributes. False: there is no such item."""
        return self._run(operations.timeline_update(key, id, payload=payload,
                at=at, ttl=ttl, attributes=attributes, replace=replace))

    def timeline_trim(self, key: Key, *, until: Optional[Instant]=None,
            keep: Optional[int]=None) -> Trimmed:
        """Remove the items up to a time, and all but the newest `keep`."""
        return self._run(operations.timeline_trim(key, until=until,
                keep=keep))

    def timeline_delete(self, key: Key) -> bool:
        """Delete a timeline with all its items. False: there is none."""
        return self._run(operations.timeline_delete(key))

    def set_add(self, key: Key, members: Iterable[Key], *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            keep_ttl: bool=False) -> int:
        """Add members that live for `ttl`; without it those that are there
        keep theirs, and new ones do not expire. `nx`: only new ones; `xx`:
        only those that are there; `keep_ttl`: only new ones get `ttl`. How
        many are new."""
        return self._run(operations.set_add(key, members, ttl=ttl, nx=nx,
                xx=xx, keep_ttl=keep_ttl))

    def set_remove(self, key: Key, members: Iterable[Key]) -> int:
        """Remove members; how many were there."""
        return self._run(operations.set_remove(key, members))

    def set_has(self, key: Key, member: Key) -> Optional[float]:
        """The time to live of a member, seconds; math.inf: it does not expire;
        None: no such member."""
        return self._run(operations.set_has(key, member))

    def set_has_members(self, key: Key, members: Iterable[Key]) -> Dict[Key,
            Optional[float]]:
        """The same of some members, at one instant."""
        return self._run(operations.set_has_members(key, members))

    def set_count(self, key: Key) -> int:
        """Count the members that have not expired."""
        return self._run(operations.set_count(key))

    def set_expire(self, key: Key, members: Iterable[Key],
            ttl: Optional[Duration]) -> int:
        """Set the time to live of members; None: they no longer expire. How
        many are there."""
        return self._run(operations.set_expire(key, members, ttl))

    def set_page(self, key: Key, *, cursor: Value=b'',
            limit: int=0) -> SetPage:
        """Read members, in no order. `cursor`: SetPage.next of the page
        before. `limit`: about how many; 0: 100."""
        return self._run(operations.set_page(key, cursor=cursor, limit=limit))

    def rank_add(self, key: Key, member: Key, score: float, *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            gt: bool=False, lt: bool=False, keep_ttl: bool=False) -> bool:
        """Give a member a score, and a time to live. `nx`: only if it is new;
        `xx`: only if it is there; `gt`, `lt`: only if its score becomes
        greater or less, or it is new; `keep_ttl`: one that is there keeps its
        own. False: refused by one of these."""
        return self._run(operations.rank_add(key, member, score, ttl=ttl,
                nx=nx, xx=xx, gt=gt, lt=lt, keep_ttl=keep_ttl))

    def rank_increment(self, key: Key, member: Key, delta: float=1, *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            gt: bool=False, lt: bool=False,
            keep_ttl: bool=False) -> Optional[RankPlace]:
        """Add to the score of a member, 0 of a new one; where it is then. The
        options are those of rank_add(). None: refused by one of these."""
        return self._run(operations.rank_increment(key, member, delta, ttl=ttl,
                nx=nx, xx=xx, gt=gt, lt=lt, keep_ttl=keep_ttl))

    def rank_get(self, key: Key, member: Key) -> Optional[RankPlace]:
        """Where a member is. None: no such member, or it has expired."""
        return self._run(operations.rank_get(key, member))

    def rank_page(self, key: Key, *, offset: int=0, limit: int=0,
            ascending: bool=False) -> List[RankMember]:
        """The top members, or those of the least scores (`ascending`). `limit`
        0: 20."""
        return self._run(operations.rank_page(key, offset=offset, limit=limit,
                ascending=ascending))

    def rank_around(self, key: Key, member: Key, each: int, *,
            ascending: bool=False) -> List[RankMember]:
        """A member, and at most `each` on each side of it; empty: no such
        member."""
        return self._run(operations.rank_around(key, member, each,
                ascending=ascending))

    def rank_count(self, key: Key, *, min: Optional[float]=None,
            max: Optional[float]=None) -> int:
        """Count the members, or those whose score is from `min` to `max`."""
        return self._run(operations.rank_count(key, min=min, max=max))

    def rank_remove(self, key: Key, members: Iterable[Key]) -> int:
        """Remove members; how many were there."""
        return self._run(operations.rank_remove(key, members))

    def rank_trim(self, key: Key, *, keep: Optional[int]=None) -> Trimmed:
        """Remove members that have expired, and all but the top `keep`."""
        return self._run(operations.rank_trim(key, keep=keep))

    def rank_expire(self, key: Key, member: Key,
            ttl: Optional[Duration]) -> bool:
        """Set the time to live of a member; None: it no longer expires. False:
        no such member."""
        return self._run(operations.rank_expire(key, member, ttl))

    def queue_put(self, queue: Key, payload: Value, *, id: Key=b'',
            delay: Optional[Duration]=None, priority: int=0, attempts: int=0,
            remember: Optional[Duration]=None, group: Key=b'') -> bool:
        """Put a job. `delay`: no one takes it before; `priority`: 0 to 9, the
        highest first; `attempts`: then it is a dead letter (0: no limit);
        `remember`: how long its id is refused, even after it is done; of a
        `group` one job at a time is taken. False: the queue has a job with
        that id, or remembers it."""
        return self._run(operations.queue_put(queue, payload, id=id,
                delay=delay, priority=priority, attempts=attempts,
                remember=remember, group=group))

    def queue_inspect(self, queue: Key) -> QueueInfo:
        """How many jobs are in which state."""
        return self._run(operations.queue_inspect(queue))

    def queue_list(self, queue: Key, state: JobState, *, offset: int=0,
            count: int=100) -> List[JobInfo]:
        """The jobs in one state, at most `count`. They are not taken by
        this."""
        return self._run(operations.queue_list(queue, state, offset=offset,
                count=count))

    def queue_pause(self, queue: Key, paused: bool=True) -> None:
        """Give no job to anyone; False: give jobs again."""
        return self._run(operations.queue_pause(queue, paused))

    def queue_revive(self, queue: Key, id: Key=b'', *, count: int=1) -> int:
        """Move a dead letter back; without an id, the `count` that are that
        for longest. How many."""
        return self._run(operations.queue_revive(queue, id, count=count))

    def once_inspect(self, key: Key) -> Optional[OnceInfo]:
        """The record of a piece of work; None: there is none."""
        return self._run(operations.once_inspect(key))

    def once_delete(self, key: Key) -> bool:
        """Delete the record of a piece of work, in whatever state: the work is
        new. False: there was none."""
        return self._run(operations.once_delete(key))

    def cache_get(self, key: Key, *, stale: bool=False,
            tags: Iterable[Key]=()) -> Optional[bytes]:
        """The value of an entry if it is fresh (`stale`: also if it is
        not)."""
        return self._run(operations.cache_get(key, stale=stale, tags=tags))

    def cache_put(self, key: Key, value: Value, *, ttl: Duration,
            stale: Optional[Duration]=None, error: Optional[Duration]=None,
            tags: Iterable[Key]=()) -> None:
        """Store an entry that is fresh for `ttl`, then stale for `stale`, or
        for `error` if filling it fails."""
        return self._run(operations.cache_put(key, value, ttl=ttl, stale=stale,
                error=error, tags=tags))

    def cache_delete(self, key: Key) -> bool:
        """Delete an entry. False: there was none."""
        return self._run(operations.cache_delete(key))

    def cache_invalidate(self, tag: Key) -> bool:
        """Invalidate all entries with a tag, in one step. False: there is
        none."""
        return self._run(operations.cache_invalidate(tag))


class AsyncOperations:
    """Each is awaited."""

    async def _run(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def value_set(self, key: Key, value: Value, *,
            ttl: Optional[Duration]=None, expires_at: Optional[Instant]=None,
            nx: bool=False, xx: bool=False, keep_ttl: bool=False,
            get: bool=False) -> SetResult:
        """Set a value and its expiry in one step: SET of Redis. `nx`: only if
        the key does not exist; `xx`: only if it does; `get`: return the
        previous value. False: `nx` or `xx` refused it."""
        return await self._run(operations.value_set(key, value, ttl=ttl,
                expires_at=expires_at, nx=nx, xx=xx, keep_ttl=keep_ttl,
                get=get))

    async def value_get(self, key: Key) -> Optional[bytes]:
        """Read a value. None: no such key."""
        return await self._run(operations.value_get(key))

    async def value_get_expire(self, key: Key, *, ttl: Optional[Duration]=None,
            expires_at: Optional[Instant]=None,
            persist: bool=False) -> Optional[bytes]:
        """Read a value and set its expiry in one step: GETEX of Redis. Exactly
        one of the three is given. None: no such key."""
        return await self._run(operations.value_get_expire(key, ttl=ttl,
                expires_at=expires_at, persist=persist))

    async def value_delete(self, key: Key) -> bool:
        """Delete a value. False: no such key."""
        return await self._run(operations.value_delete(key))

    async def value_cas(self, key: Key, expected: Optional[Value],
            value: Value, *, ttl: Optional[Duration]=None,
            once: bool=False) -> CasResult:
        """Compare and set: replace a value only if it is `expected`; None:
        only if the key does not exist. It keeps its time to live unless `ttl`
        is given. `once`: do not send it again if the reply is lost."""
        return await self._run(operations.value_cas(key, expected, value,
                ttl=ttl, once=once))

    async def value_delete_if(self, key: Key, expected: Value) -> CasResult:
        """Compare and delete."""
        return await self._run(operations.value_delete_if(key, expected))

    async def value_expire_if(self, key: Key, expected: Value, *,
            ttl: Optional[Duration]=None, expires_at: Optional[Instant]=None,
            persist: bool=False) -> CasResult:
        """Compare and expire: exactly one of the three new expiries is
        given."""
        return await self._run(operations.value_expire_if(key, expected,
                ttl=ttl, expires_at=expires_at, persist=persist))

    async def value_append(self, key: Key, value: Value) -> int:
        """Append bytes to a value; its size afterwards."""
        return await self._run(operations.value_append(key, value))

    async def value_add(self, key: Key, delta: int=1, *,
            min: Optional[int]=None, max: Optional[int]=None,
            ttl: Optional[Duration]=None) -> Optional[int]:
        """Add to a counter; the result. None: it would be out of bounds. `ttl`
        is that of a key that is created."""
        return await self._run(operations.value_add(key, delta, min=min,
                max=max, ttl=ttl))

    async def value_put_fenced(self, key: Key, value: Value, token: int, *,
            ttl: Optional[Duration]=None, keep_ttl: bool=False) -> bool:
        """Set a value with the fencing token of the lock that protects it.
        False: a newer holder has written."""
        return await self._run(operations.value_put_fenced(key, value, token,
                ttl=ttl, keep_ttl=keep_ttl))

    async def value_get_revised(self, key: Key) -> Optional[Revised]:
        """Read a value and its revision, a number that never comes again.
        None: no such key."""
        return await self._run(operations.value_get_revised(key))

    async def value_put_revised(self, key: Key, value: Value,
            expected: Optional[int], *, ttl: Optional[Duration]=None,
            keep_ttl: bool=False) -> RevisedResult:
        """Set a value if it has this revision; 0: if the key does not exist;
        None: in any case."""
        return await self._run(operations.value_put_revised(key, value,
                expected, ttl=ttl, keep_ttl=keep_ttl))

    async def value_delete_revised(self, key: Key,
            expected: Optional[int]) -> RevisedResult:
        """Delete a value if it has this revision; None: in any case."""
        return await self._run(operations.value_delete_revised(key, expected))

    async def hash_put(self, key: Key, fields: Fields, *,
            ttl: Optional[Duration]=None, field_ttl: Optional[Duration]=None,
            nx: bool=False, xx: bool=False, replace: bool=False,
            persist: bool=False) -> bool:
        """Write fields, and the time to live of the key (`ttl`) or of these
        fields (`field_ttl`), in one step. `replace`: delete all other fields;
        `persist`: remove the key's time to live. False: `nx` or `xx` refused
        it."""
        return await self._run(operations.hash_put(key, fields, ttl=ttl,
                field_ttl=field_ttl, nx=nx, xx=xx, replace=replace,
                persist=persist))

    async def hash_put_fenced(self, key: Key, fields: Fields, token: int, *,
            ttl: Optional[Duration]=None, replace: bool=False) -> bool:
        """Write fields with the fencing token of the lock that protects the
        hash. False: a newer holder has written."""
        return await self._run(operations.hash_put_fenced(key, fields, token,
                ttl=ttl, replace=replace))

    async def hash_get(self, key: Key, field: Key) -> Optional[bytes]:
        """Read a field. None: no such key or field."""
        return await self._run(operations.hash_get(key, field))

    async def hash_get_fields(self, key: Key,
            names: Iterable[Key]) -> Dict[Key, Optional[bytes]]:
        """Read some fields; None for those that do not exist."""
        return await self._run(operations.hash_get_fields(key, names))

    async def hash_get_all(self, key: Key) -> Dict[bytes, bytes]:
        """Read all fields; empty: no such key."""
        return await self._run(operations.hash_get_all(key))

    async def hash_cas(self, key: Key, field: Key, expected: Optional[Value],
            value: Value, *, ttl: Optional[Duration]=None,
            once: bool=False) -> CasResult:
        """Compare and set a field; None: only if it does not exist. `ttl` is
        the key's."""
        return await self._run(operations.hash_cas(key, field, expected, value,
                ttl=ttl, once=once))

    async def hash_add(self, key: Key, field: Key, delta: int=1, *,
            min: Optional[int]=None, max: Optional[int]=None,
            ttl: Optional[Duration]=None) -> Optional[int]:
        """Add to a field; the result. None: it would be out of bounds."""
        return await self._run(operations.hash_add(key, field, delta, min=min,
                max=max, ttl=ttl))

    async def hash_delete_fields(self, key: Key, names: Iterable[Key]) -> int:
        """Delete fields; how many existed."""
        return await self._run(operations.hash_delete_fields(key, names))

    async def hash_expire_fields(self, key: Key, names: Iterable[Key],
            ttl: Optional[Duration]) -> int:
        """Set the time to live of fields; None: they no longer expire. How
        many exist."""
        return await self._run(operations.hash_expire_fields(key, names, ttl))

    async def hash_ttl_fields(self, key: Key,
            names: Iterable[Key]) -> Dict[Key, Optional[float]]:
        """The times to live of fields, seconds: math.inf for those that do not
        expire, None for those that do not exist."""
        return await self._run(operations.hash_ttl_fields(key, names))

    async def hash_delete(self, key: Key) -> bool:
        """Delete a hash. False: no such key."""
        return await self._run(operations.hash_delete(key))

    async def key_ttl(self, key: Key) -> Optional[float]:
        """The time to live of a key, seconds; math.inf: it does not expire;
        None: no such key."""
        return await self._run(operations.key_ttl(key))

    async def key_expire(self, key: Key, ttl: Optional[Duration]) -> bool:
        """Set the time to live of a key; None: it no longer expires. False: no
        such key."""
        return await self._run(operations.key_expire(key, ttl))

    async def key_type(self, key: Key) -> Optional[str]:
        """What a key is: "string", "hash", "timeline", "lock" ... None: no
        such key."""
        return await self._run(operations.key_type(key))

    async def key_delete(self, key: Key) -> bool:
        """Delete a key of any type, with what belongs to it. False: no such
        key."""
        return await self._run(operations.key_delete(key))

    async def timeline_add(self, key: Key, id: Key, payload: Value,
            ttl: Duration, *, at: Optional[Instant]=None,
            attributes: Optional[Attributes]=None, nx: bool=False) -> bool:
        """Add an item that lives for `ttl`, or replace the one with its id.
        `at`: its time; None: now. False: `nx`, and there is one."""
        return await self._run(operations.timeline_add(key, id, payload, ttl,
                at=at, attributes=attributes, nx=nx))

    async def timeline_get(self, key: Key, id: Key) -> Optional[Item]:
        """Read an item. None: there is none, or it has expired."""
        return await self._run(operations.timeline_get(key, id))

    async def timeline_remove(self, key: Key, id: Key) -> bool:
        """Remove an item. False: there was none."""
        return await self._run(operations.timeline_remove(key, id))

    async def timeline_count(self, key: Key) -> int:
        """Count the items that have not expired."""
        return await self._run(operations.timeline_count(key))

    async def timeline_page(self, key: Key, *, limit: int=0, offset: int=0,
            cursor: Value=b'', ascending: bool=False, order_by: Key=b'',
            min: Optional[float]=None, max: Optional[float]=None,
            since: Optional[Instant]=None,
            until: Optional[Instant]=None) -> Page:
        """Read items, newest first, or in the order of an attribute
        (`order_by`, from `min` to `max`). `cursor`: Page.next of the page
        before. `limit` 0: 20. `since`, `until`: only items of these times."""
        return await self._run(operations.timeline_page(key, limit=limit,
                offset=offset, cursor=cursor, ascending=ascending,
                order_by=order_by, min=min, max=max, since=since,
                until=until))

    async def timeline_update(self, key: Key, id: Key, *,
            payload: Optional[Value]=None, at: Optional[Instant]=None,
            ttl: Optional[Duration]=None,
            attributes: Optional[Attributes]=None,
            replace: bool=False) -> bool:
        """Change what is given of an item. `replace`: drop the other
        attributes. False: there is no such item."""
        return await self._run(operations.timeline_update(key, id,
                payload=payload, at=at, ttl=ttl, attributes=attributes,
                replace=replace))

    async def timeline_trim(self, key: Key, *, until: Optional[Instant]=None,
            keep: Optional[int]=None) -> Trimmed:
        """Remove the items up to a time, and all but the newest `keep`."""
        return await self._run(operations.timeline_trim(key, until=until,
                keep=keep))

    async def timeline_delete(self, key: Key) -> bool:
        """Delete a timeline with all its items. False: there is none."""
        return await self._run(operations.timeline_delete(key))

    async def set_add(self, key: Key, members: Iterable[Key], *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            keep_ttl: bool=False) -> int:
        """Add members that live for `ttl`; without it those that are there
        keep theirs, and new ones do not expire. `nx`: only new ones; `xx`:
        only those that are there; `keep_ttl`: only new ones get `ttl`. How
        many are new."""
        return await self._run(operations.set_add(key, members, ttl=ttl, nx=nx,
                xx=xx, keep_ttl=keep_ttl))

    async def set_remove(self, key: Key, members: Iterable[Key]) -> int:
        """Remove members; how many were there."""
        return await self._run(operations.set_remove(key, members))

    async def set_has(self, key: Key, member: Key) -> Optional[float]:
        """The time to live of a member, seconds; math.inf: it does not expire;
        None: no such member."""
        return await self._run(operations.set_has(key, member))

    async def set_has_members(self, key: Key,
            members: Iterable[Key]) -> Dict[Key, Optional[float]]:
        """The same of some members, at one instant."""
        return await self._run(operations.set_has_members(key, members))

    async def set_count(self, key: Key) -> int:
        """Count the members that have not expired."""
        return await self._run(operations.set_count(key))

    async def set_expire(self, key: Key, members: Iterable[Key],
            ttl: Optional[Duration]) -> int:
        """Set the time to live of members; None: they no longer expire. How
        many are there."""
        return await self._run(operations.set_expire(key, members, ttl))

    async def set_page(self, key: Key, *, cursor: Value=b'',
            limit: int=0) -> SetPage:
        """Read members, in no order. `cursor`: SetPage.next of the page
        before. `limit`: about how many; 0: 100."""
        return await self._run(operations.set_page(key, cursor=cursor,
                limit=limit))

    async def rank_add(self, key: Key, member: Key, score: float, *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            gt: bool=False, lt: bool=False, keep_ttl: bool=False) -> bool:
        """Give a member a score, and a time to live. `nx`: only if it is new;
        `xx`: only if it is there; `gt`, `lt`: only if its score becomes
        greater or less, or it is new; `keep_ttl`: one that is there keeps its
        own. False: refused by one of these."""
        return await self._run(operations.rank_add(key, member, score, ttl=ttl,
                nx=nx, xx=xx, gt=gt, lt=lt, keep_ttl=keep_ttl))

    async def rank_increment(self, key: Key, member: Key, delta: float=1, *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            gt: bool=False, lt: bool=False,
            keep_ttl: bool=False) -> Optional[RankPlace]:
        """Add to the score of a member, 0 of a new one; where it is then. The
        options are those of rank_add(). None: refused by one of these."""
        return await self._run(operations.rank_increment(key, member, delta,
                ttl=ttl, nx=nx, xx=xx, gt=gt, lt=lt, keep_ttl=keep_ttl))

    async def rank_get(self, key: Key, member: Key) -> Optional[RankPlace]:
        """Where a member is. None: no such member, or it has expired."""
        return await self._run(operations.rank_get(key, member))

    async def rank_page(self, key: Key, *, offset: int=0, limit: int=0,
            ascending: bool=False) -> List[RankMember]:
        """The top members, or those of the least scores (`ascending`). `limit`
        0: 20."""
        return await self._run(operations.rank_page(key, offset=offset,
                limit=limit, ascending=ascending))

    async def rank_around(self, key: Key, member: Key, each: int, *,
            ascending: bool=False) -> List[RankMember]:
        """A member, and at most `each` on each side of it; empty: no such
        member."""
        return await self._run(operations.rank_around(key, member, each,
                ascending=ascending))

    async def rank_count(self, key: Key, *, min: Optional[float]=None,
            max: Optional[float]=None) -> int:
        """Count the members, or those whose score is from `min` to `max`."""
        return await self._run(operations.rank_count(key, min=min, max=max))

    async def rank_remove(self, key: Key, members: Iterable[Key]) -> int:
        """Remove members; how many were there."""
        return await self._run(operations.rank_remove(key, members))

    async def rank_trim(self, key: Key, *,
            keep: Optional[int]=None) -> Trimmed:
        """Remove members that have expired, and all but the top `keep`."""
        return await self._run(operations.rank_trim(key, keep=keep))

    async def rank_expire(self, key: Key, member: Key,
            ttl: Optional[Duration]) -> bool:
        """Set the time to live of a member; None: it no longer expires. False:
        no such member."""
        return await self._run(operations.rank_expire(key, member, ttl))

    async def queue_put(self, queue: Key, payload: Value, *, id: Key=b'',
            delay: Optional[Duration]=None, priority: int=0, attempts: int=0,
            remember: Optional[Duration]=None, group: Key=b'') -> bool:
        """Put a job. `delay`: no one takes it before; `priority`: 0 to 9, the
        highest first; `attempts`: then it is a dead letter (0: no limit);
        `remember`: how long its id is refused, even after it is done; of a
        `group` one job at a time is taken. False: the queue has a job with
        that id, or remembers it."""
        return await self._run(operations.queue_put(queue, payload, id=id,
                delay=delay, priority=priority, attempts=attempts,
                remember=remember, group=group))

    async def queue_inspect(self, queue: Key) -> QueueInfo:
        """How many jobs are in which state."""
        return await self._run(operations.queue_inspect(queue))

    async def queue_list(self, queue: Key, state: JobState, *, offset: int=0,
            count: int=100) -> List[JobInfo]:
        """The jobs in one state, at most `count`. They are not taken by
        this."""
        return await self._run(operations.queue_list(queue, state,
                offset=offset, count=count))

    async def queue_pause(self, queue: Key, paused: bool=True) -> None:
        """Give no job to anyone; False: give jobs again."""
        return await self._run(operations.queue_pause(queue, paused))

    async def queue_revive(self, queue: Key, id: Key=b'', *,
            count: int=1) -> int:
        """Move a dead letter back; without an id, the `count` that are that
        for longest. How many."""
        return await self._run(operations.queue_revive(queue, id,
                count=count))

    async def once_inspect(self, key: Key) -> Optional[OnceInfo]:
        """The record of a piece of work; None: there is none."""
        return await self._run(operations.once_inspect(key))

    async def once_delete(self, key: Key) -> bool:
        """Delete the record of a piece of work, in whatever state: the work is
        new. False: there was none."""
        return await self._run(operations.once_delete(key))

    async def cache_get(self, key: Key, *, stale: bool=False,
            tags: Iterable[Key]=()) -> Optional[bytes]:
        """The value of an entry if it is fresh (`stale`: also if it is
        not)."""
        return await self._run(operations.cache_get(key, stale=stale,
                tags=tags))

    async def cache_put(self, key: Key, value: Value, *, ttl: Duration,
            stale: Optional[Duration]=None, error: Optional[Duration]=None,
            tags: Iterable[Key]=()) -> None:
        """Store an entry that is fresh for `ttl`, then stale for `stale`, or
        for `error` if filling it fails."""
        return await self._run(operations.cache_put(key, value, ttl=ttl,
                stale=stale, error=error, tags=tags))

    async def cache_delete(self, key: Key) -> bool:
        """Delete an entry. False: there was none."""
        return await self._run(operations.cache_delete(key))

    async def cache_invalidate(self, tag: Key) -> bool:
        """Invalidate all entries with a tag, in one step. False: there is
        none."""
        return await self._run(operations.cache_invalidate(tag))


class QueuedOperations:
    """Each runs with the transaction."""

    def _queue(self, call: Call[T]) -> Queued[T]:
        raise NotImplementedError

    def value_set(self, key: Key, value: Value, *,
            ttl: Optional[Duration]=None, expires_at: Optional[Instant]=None,
            nx: bool=False, xx: bool=False, keep_ttl: bool=False,
            get: bool=False) -> Queued[SetResult]:
        """Set a value and its expiry in one step: SET of Redis. `nx`: only if
        the key does not exist; `xx`: only if it does; `get`: return the
        previous value. False: `nx` or `xx` refused it."""
        return self._queue(operations.value_set(key, value, ttl=ttl,
                expires_at=expires_at, nx=nx, xx=xx, keep_ttl=keep_ttl,
                get=get))

    def value_get(self, key: Key) -> Queued[Optional[bytes]]:
        """Read a value. None: no such key."""
        return self._queue(operations.value_get(key))

    def value_get_expire(self, key: Key, *, ttl: Optional[Duration]=None,
            expires_at: Optional[Instant]=None,
            persist: bool=False) -> Queued[Optional[bytes]]:
        """Read a value and set its expiry in one step: GETEX of Redis. Exactly
        one of the three is given. None: no such key."""
        return self._queue(operations.value_get_expire(key, ttl=ttl,
                expires_at=expires_at, persist=persist))

    def value_delete(self, key: Key) -> Queued[bool]:
        """Delete a value. False: no such key."""
        return self._queue(operations.value_delete(key))

    def value_cas(self, key: Key, expected: Optional[Value], value: Value, *,
            ttl: Optional[Duration]=None,
            once: bool=False) -> Queued[CasResult]:
        """Compare and set: replace a value only if it is `expected`; None:
        only if the key does not exist. It keeps its time to live unless `ttl`
        is given. `once`: do not send it again if the reply is lost."""
        return self._queue(operations.value_cas(key, expected, value, ttl=ttl,
                once=once))

    def value_delete_if(self, key: Key, expected: Value) -> Queued[CasResult]:
        """Compare and delete."""
        return self._queue(operations.value_delete_if(key, expected))

    def value_expire_if(self, key: Key, expected: Value, *,
            ttl: Optional[Duration]=None, expires_at: Optional[Instant]=None,
            persist: bool=False) -> Queued[CasResult]:
        """Compare and expire: exactly one of the three new expiries is
        given."""
        return self._queue(operations.value_expire_if(key, expected, ttl=ttl,
                expires_at=expires_at, persist=persist))

    def value_append(self, key: Key, value: Value) -> Queued[int]:
        """Append bytes to a value; its size afterwards."""
        return self._queue(operations.value_append(key, value))

    def value_add(self, key: Key, delta: int=1, *, min: Optional[int]=None,
            max: Optional[int]=None,
            ttl: Optional[Duration]=None) -> Queued[Optional[int]]:
        """Add to a counter; the result. None: it would be out of bounds. `ttl`
        is that of a key that is created."""
        return self._queue(operations.value_add(key, delta, min=min, max=max,
                ttl=ttl))

    def value_put_fenced(self, key: Key, value: Value, token: int, *,
            ttl: Optional[Duration]=None,
            keep_ttl: bool=False) -> Queued[bool]:
        """Set a value with the fencing token of the lock that protects it.
        False: a newer holder has written."""
        return self._queue(operations.value_put_fenced(key, value, token,
                ttl=ttl, keep_ttl=keep_ttl))

    def value_get_revised(self, key: Key) -> Queued[Optional[Revised]]:
        """Read a value and its revision, a number that never comes again.
        None: no such key."""
        return self._queue(operations.value_get_revised(key))

    def value_put_revised(self, key: Key, value: Value,
            expected: Optional[int], *, ttl: Optional[Duration]=None,
            keep_ttl: bool=False) -> Queued[RevisedResult]:
        """Set a value if it has this revision; 0: if the key does not exist;
        None: in any case."""
        return self._queue(operations.value_put_revised(key, value, expected,
                ttl=ttl, keep_ttl=keep_ttl))

    def value_delete_revised(self, key: Key,
            expected: Optional[int]) -> Queued[RevisedResult]:
        """Delete a value if it has this revision; None: in any case."""
        return self._queue(operations.value_delete_revised(key, expected))

    def hash_put(self, key: Key, fields: Fields, *,
            ttl: Optional[Duration]=None, field_ttl: Optional[Duration]=None,
            nx: bool=False, xx: bool=False, replace: bool=False,
            persist: bool=False) -> Queued[bool]:
        """Write fields, and the time to live of the key (`ttl`) or of these
        fields (`field_ttl`), in one step. `replace`: delete all other fields;
        `persist`: remove the key's time to live. False: `nx` or `xx` refused
        it."""
        return self._queue(operations.hash_put(key, fields, ttl=ttl,
                field_ttl=field_ttl, nx=nx, xx=xx, replace=replace,
                persist=persist))

    def hash_put_fenced(self, key: Key, fields: Fields, token: int, *,
            ttl: Optional[Duration]=None,
            replace: bool=False) -> Queued[bool]:
        """Write fields with the fencing token of the lock that protects the
        hash. False: a newer holder has written."""
        return self._queue(operations.hash_put_fenced(key, fields, token,
                ttl=ttl, replace=replace))

    def hash_get(self, key: Key, field: Key) -> Queued[Optional[bytes]]:
        """Read a field. None: no such key or field."""
        return self._queue(operations.hash_get(key, field))

    def hash_get_fields(self, key: Key,
            names: Iterable[Key]) -> Queued[Dict[Key, Optional[bytes]]]:
        """Read some fields; None for those that do not exist."""
        return self._queue(operations.hash_get_fields(key, names))

    def hash_get_all(self, key: Key) -> Queued[Dict[bytes, bytes]]:
        """Read all fields; empty: no such key."""
        return self._queue(operations.hash_get_all(key))

    def hash_cas(self, key: Key, field: Key, expected: Optional[Value],
            value: Value, *, ttl: Optional[Duration]=None,
            once: bool=False) -> Queued[CasResult]:
        """Compare and set a field; None: only if it does not exist. `ttl` is
        the key's."""
        return self._queue(operations.hash_cas(key, field, expected, value,
                ttl=ttl, once=once))

    def hash_add(self, key: Key, field: Key, delta: int=1, *,
            min: Optional[int]=None, max: Optional[int]=None,
            ttl: Optional[Duration]=None) -> Queued[Optional[int]]:
        """Add to a field; the result. None: it would be out of bounds."""
        return self._queue(operations.hash_add(key, field, delta, min=min,
                max=max, ttl=ttl))

    def hash_delete_fields(self, key: Key,
            names: Iterable[Key]) -> Queued[int]:
        """Delete fields; how many existed."""
        return self._queue(operations.hash_delete_fields(key, names))

    def hash_expire_fields(self, key: Key, names: Iterable[Key],
            ttl: Optional[Duration]) -> Queued[int]:
        """Set the time to live of fields; None: they no longer expire. How
        many exist."""
        return self._queue(operations.hash_expire_fields(key, names, ttl))

    def hash_ttl_fields(self, key: Key,
            names: Iterable[Key]) -> Queued[Dict[Key, Optional[float]]]:
        """The times to live of fields, seconds: math.inf for those that do not
        expire, None for those that do not exist."""
        return self._queue(operations.hash_ttl_fields(key, names))

    def hash_delete(self, key: Key) -> Queued[bool]:
        """Delete a hash. False: no such key."""
        return self._queue(operations.hash_delete(key))

    def key_ttl(self, key: Key) -> Queued[Optional[float]]:
        """The time to live of a key, seconds; math.inf: it does not expire;
        None: no such key."""
        return self._queue(operations.key_ttl(key))

    def key_expire(self, key: Key, ttl: Optional[Duration]) -> Queued[bool]:
        """Set the time to live of a key; None: it no longer expires. False: no
        such key."""
        return self._queue(operations.key_expire(key, ttl))

    def key_type(self, key: Key) -> Queued[Optional[str]]:
        """What a key is: "string", "hash", "timeline", "lock" ... None: no
        such key."""
        return self._queue(operations.key_type(key))

    def key_delete(self, key: Key) -> Queued[bool]:
        """Delete a key of any type, with what belongs to it. False: no such
        key."""
        return self._queue(operations.key_delete(key))

    def timeline_add(self, key: Key, id: Key, payload: Value, ttl: Duration, *,
            at: Optional[Instant]=None, attributes: Optional[Attributes]=None,
            nx: bool=False) -> Queued[bool]:
        """Add an item that lives for `ttl`, or replace the one with its id.
        `at`: its time; None: now. False: `nx`, and there is one."""
        return self._queue(operations.timeline_add(key, id, payload, ttl,
                at=at, attributes=attributes, nx=nx))

    def timeline_get(self, key: Key, id: Key) -> Queued[Optional[Item]]:
        """Read an item. None: there is none, or it has expired."""
        return self._queue(operations.timeline_get(key, id))

    def timeline_remove(self, key: Key, id: Key) -> Queued[bool]:
        """Remove an item. False: there was none."""
        return self._queue(operations.timeline_remove(key, id))

    def timeline_count(self, key: Key) -> Queued[int]:
        """Count the items that have not expired."""
        return self._queue(operations.timeline_count(key))

    def timeline_page(self, key: Key, *, limit: int=0, offset: int=0,
            cursor: Value=b'', ascending: bool=False, order_by: Key=b'',
            min: Optional[float]=None, max: Optional[float]=None,
            since: Optional[Instant]=None,
            until: Optional[Instant]=None) -> Queued[Page]:
        """Read items, newest first, or in the order of an attribute
        (`order_by`, from `min` to `max`). `cursor`: Page.next of the page
        before. `limit` 0: 20. `since`, `until`: only items of these times."""
        return self._queue(operations.timeline_page(key, limit=limit,
                offset=offset, cursor=cursor, ascending=ascending,
                order_by=order_by, min=min, max=max, since=since,
                until=until))

    def timeline_update(self, key: Key, id: Key, *,
            payload: Optional[Value]=None, at: Optional[Instant]=None,
            ttl: Optional[Duration]=None,
            attributes: Optional[Attributes]=None,
            replace: bool=False) -> Queued[bool]:
        """Change what is given of an item. `replace`: drop the other
        attributes. False: there is no such item."""
        return self._queue(operations.timeline_update(key, id, payload=payload,
                at=at, ttl=ttl, attributes=attributes, replace=replace))

    def timeline_trim(self, key: Key, *, until: Optional[Instant]=None,
            keep: Optional[int]=None) -> Queued[Trimmed]:
        """Remove the items up to a time, and all but the newest `keep`."""
        return self._queue(operations.timeline_trim(key, until=until,
                keep=keep))

    def timeline_delete(self, key: Key) -> Queued[bool]:
        """Delete a timeline with all its items. False: there is none."""
        return self._queue(operations.timeline_delete(key))

    def set_add(self, key: Key, members: Iterable[Key], *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            keep_ttl: bool=False) -> Queued[int]:
        """Add members that live for `ttl`; without it those that are there
        keep theirs, and new ones do not expire. `nx`: only new ones; `xx`:
        only those that are there; `keep_ttl`: only new ones get `ttl`. How
        many are new."""
        return self._queue(operations.set_add(key, members, ttl=ttl, nx=nx,
                xx=xx, keep_ttl=keep_ttl))

    def set_remove(self, key: Key, members: Iterable[Key]) -> Queued[int]:
        """Remove members; how many were there."""
        return self._queue(operations.set_remove(key, members))

    def set_has(self, key: Key, member: Key) -> Queued[Optional[float]]:
        """The time to live of a member, seconds; math.inf: it does not expire;
        None: no such member."""
        return self._queue(operations.set_has(key, member))

    def set_has_members(self, key: Key,
            members: Iterable[Key]) -> Queued[Dict[Key, Optional[float]]]:
        """The same of some members, at one instant."""
        return self._queue(operations.set_has_members(key, members))

    def set_count(self, key: Key) -> Queued[int]:
        """Count the members that have not expired."""
        return self._queue(operations.set_count(key))

    def set_expire(self, key: Key, members: Iterable[Key],
            ttl: Optional[Duration]) -> Queued[int]:
        """Set the time to live of members; None: they no longer expire. How
        many are there."""
        return self._queue(operations.set_expire(key, members, ttl))

    def set_page(self, key: Key, *, cursor: Value=b'',
            limit: int=0) -> Queued[SetPage]:
        """Read members, in no order. `cursor`: SetPage.next of the page
        before. `limit`: about how many; 0: 100."""
        return self._queue(operations.set_page(key, cursor=cursor,
                limit=limit))

    def rank_add(self, key: Key, member: Key, score: float, *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            gt: bool=False, lt: bool=False,
            keep_ttl: bool=False) -> Queued[bool]:
        """Give a member a score, and a time to live. `nx`: only if it is new;
        `xx`: only if it is there; `gt`, `lt`: only if its score becomes
        greater or less, or it is new; `keep_ttl`: one that is there keeps its
        own. False: refused by one of these."""
        return self._queue(operations.rank_add(key, member, score, ttl=ttl,
                nx=nx, xx=xx, gt=gt, lt=lt, keep_ttl=keep_ttl))

    def rank_increment(self, key: Key, member: Key, delta: float=1, *,
            ttl: Optional[Duration]=None, nx: bool=False, xx: bool=False,
            gt: bool=False, lt: bool=False,
            keep_ttl: bool=False) -> Queued[Optional[RankPlace]]:
        """Add to the score of a member, 0 of a new one; where it is then. The
        options are those of rank_add(). None: refused by one of these."""
        return self._queue(operations.rank_increment(key, member, delta,
                ttl=ttl, nx=nx, xx=xx, gt=gt, lt=lt, keep_ttl=keep_ttl))

    def rank_get(self, key: Key, member: Key) -> Queued[Optional[RankPlace]]:
        """Where a member is. None: no such member, or it has expired."""
        return self._queue(operations.rank_get(key, member))

    def rank_page(self, key: Key, *, offset: int=0, limit: int=0,
            ascending: bool=False) -> Queued[List[RankMember]]:
        """The top members, or those of the least scores (`ascending`). `limit`
        0: 20."""
        return self._queue(operations.rank_page(key, offset=offset,
                limit=limit, ascending=ascending))

    def rank_around(self, key: Key, member: Key, each: int, *,
            ascending: bool=False) -> Queued[List[RankMember]]:
        """A member, and at most `each` on each side of it; empty: no such
        member."""
        return self._queue(operations.rank_around(key, member, each,
                ascending=ascending))

    def rank_count(self, key: Key, *, min: Optional[float]=None,
            max: Optional[float]=None) -> Queued[int]:
        """Count the members, or those whose score is from `min` to `max`."""
        return self._queue(operations.rank_count(key, min=min, max=max))

    def rank_remove(self, key: Key, members: Iterable[Key]) -> Queued[int]:
        """Remove members; how many were there."""
        return self._queue(operations.rank_remove(key, members))

    def rank_trim(self, key: Key, *,
            keep: Optional[int]=None) -> Queued[Trimmed]:
        """Remove members that have expired, and all but the top `keep`."""
        return self._queue(operations.rank_trim(key, keep=keep))

    def rank_expire(self, key: Key, member: Key,
            ttl: Optional[Duration]) -> Queued[bool]:
        """Set the time to live of a member; None: it no longer expires. False:
        no such member."""
        return self._queue(operations.rank_expire(key, member, ttl))

    def queue_put(self, queue: Key, payload: Value, *, id: Key=b'',
            delay: Optional[Duration]=None, priority: int=0, attempts: int=0,
            remember: Optional[Duration]=None,
            group: Key=b'') -> Queued[bool]:
        """Put a job. `delay`: no one takes it before; `priority`: 0 to 9, the
        highest first; `attempts`: then it is a dead letter (0: no limit);
        `remember`: how long its id is refused, even after it is done; of a
        `group` one job at a time is taken. False: the queue has a job with
        that id, or remembers it."""
        return self._queue(operations.queue_put(queue, payload, id=id,
                delay=delay, priority=priority, attempts=attempts,
                remember=remember, group=group))

    def queue_inspect(self, queue: Key) -> Queued[QueueInfo]:
        """How many jobs are in which state."""
        return self._queue(operations.queue_inspect(queue))

    def queue_list(self, queue: Key, state: JobState, *, offset: int=0,
            count: int=100) -> Queued[List[JobInfo]]:
        """The jobs in one state, at most `count`. They are not taken by
        this."""
        return self._queue(operations.queue_list(queue, state, offset=offset,
                count=count))

    def queue_pause(self, queue: Key, paused: bool=True) -> Queued[None]:
        """Give no job to anyone; False: give jobs again."""
        return self._queue(operations.queue_pause(queue, paused))

    def queue_revive(self, queue: Key, id: Key=b'', *,
            count: int=1) -> Queued[int]:
        """Move a dead letter back; without an id, the `count` that are that
        for longest. How many."""
        return self._queue(operations.queue_revive(queue, id, count=count))

    def once_inspect(self, key: Key) -> Queued[Optional[OnceInfo]]:
        """The record of a piece of work; None: there is none."""
        return self._queue(operations.once_inspect(key))

    def once_delete(self, key: Key) -> Queued[bool]:
        """Delete the record of a piece of work, in whatever state: the work is
        new. False: there was none."""
        return self._queue(operations.once_delete(key))
