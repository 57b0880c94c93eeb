# SPDX-License-Identifier: Apache-2.0
"""The operations, each described once: arguments, results, outcomes. The
methods of Client, AsyncClient and Transaction in _faces.py are made from these
functions by make_faces.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Dict, Iterable, List, Literal, Optional, Union

from ._core import (Attributes, Call, Duration, Fields, Instant, Key, Memory,
                    Status, Value, bytes_of, ffi, instant_of, lib, milliseconds,
                    take_buffer, unix_milliseconds)

_REFUSED = (Status.CONFLICT, Status.NOT_FOUND)


@dataclass(frozen=True)
class SetResult:
    """True if the value was set."""

    done: bool
    previous: Optional[bytes] = None  #: with get=True; None: there was none

    def __bool__(self) -> bool:
        return self.done


@dataclass(frozen=True)
class CasResult:
    """True if the value was the expected one."""

    done: bool
    current: Optional[bytes] = None  #: if not; None: there is none

    def __bool__(self) -> bool:
        return self.done


@dataclass(frozen=True)
class Revised:
    """A value and its revision."""

    value: bytes
    revision: int


@dataclass(frozen=True)
class RevisedResult:
    """True if it was done."""

    done: bool
    revision: int  #: the new one; if not done the current one; 0: no such key

    def __bool__(self) -> bool:
        return self.done


@dataclass(frozen=True)
class Item:
    """An item of a timeline."""

    id: bytes
    payload: bytes
    at: datetime
    ttl: float  #: seconds to live
    attributes: Dict[str, Union[float, bytes]] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """Items, and the cursor of the page that follows; empty: none does."""

    items: List[Item]
    next: bytes


@dataclass(frozen=True)
class Trimmed:
    removed: int
    more: bool  #: call it again


@dataclass(frozen=True)
class SetPage:
    """Members with their times to live, seconds (math.inf: it does not expire),
    and the cursor of the page that follows; empty: none does."""

    members: Dict[bytes, float]
    next: bytes


@dataclass(frozen=True)
class RankPlace:
    """Where a member of a rank is."""

    score: float
    rank: int  #: 0: the top
    count: int  #: of all members


@dataclass(frozen=True)
class RankMember:
    """A member of a page of a rank."""

    member: bytes
    score: float
    rank: int  #: in the order of the page
    ttl: float  #: seconds to live; math.inf: it does not expire


JobState = Literal["ready", "taken", "delayed", "behind", "dead"]


@dataclass(frozen=True)
class JobInfo:
    """A job, as it was when it was taken or listed."""

    id: bytes
    payload: bytes
    group: bytes  #: empty: none
    attempt: int  #: how often it was taken, this time included
    attempts: int  #: how often at most; 0: no limit
    priority: int
    put: datetime


@dataclass(frozen=True)
class QueueInfo:
    """How many jobs are in which state."""

    ready: int
    taken: int
    delayed: int
    behind: int  #: behind another of their group
    dead: int
    remembered: int  #: ids of jobs that are done
    waiters: int  #: workers that wait, one for each client
    paused: bool


@dataclass(frozen=True)
class OnceResult:
    """Of work that is done."""

    status: int  #: a number of the caller's
    result: bytes


@dataclass(frozen=True)
class OnceInfo:
    """The record of a piece of work."""

    state: str  #: "claimed", "done" or "doubt"
    remaining: float  #: seconds: of a claim its lease, else the record
    waiters: int
    tick: Optional[datetime]  #: None: there is no period
    token: int  #: of a claim
    owner: str  #: of a claim
    result: Optional[OnceResult]  #: of work that is done


def _found(status: int) -> bool:
    return status == Status.OK


def _bit(given: bool, flag: int) -> int:
    return flag if given else 0


def _expected(revision: Optional[int]) -> int:
    return 2 ** 64 - 1 if revision is None else revision  # HF_REVISION_ANY


def _set_options(memory: Memory, ttl: Optional[Duration],
                 expires_at: Optional[Instant], flags: int) -> Any:
    options = memory.struct("hf_value_set_options")
    options.flags = flags
    options.ttl_ms = milliseconds(ttl)
    options.expires_unix_ms = unix_milliseconds(expires_at)
    return options


def _expire_options(memory: Memory, ttl: Optional[Duration],
                    expires_at: Optional[Instant], persist: bool) -> Any:
    options = memory.struct("hf_value_expire_options")
    options.flags = _bit(persist, lib.HF_EXPIRE_PERSIST)
    options.ttl_ms = milliseconds(ttl)
    options.expires_unix_ms = unix_milliseconds(expires_at)
    return options


def _cas_options(memory: Memory, ttl: Optional[Duration], once: bool) -> Any:
    options = memory.struct("hf_cas_options")
    options.ttl_ms = milliseconds(ttl)
    options.flags = _bit(once, lib.HF_CAS_ONCE)
    return options


def _add_options(memory: Memory, least: Optional[int], most: Optional[int],
                 ttl: Optional[Duration]) -> Any:
    options = memory.struct("hf_add_options")
    options.flags = _bit(least is not None, lib.HF_ADD_MIN) | \
        _bit(most is not None, lib.HF_ADD_MAX)
    options.min = least or 0
    options.max = most or 0
    options.ttl_ms = milliseconds(ttl)
    return options


# ------------------------------------------------------------------- values


def value_set(key: Key, value: Value, *, ttl: Optional[Duration] = None,
              expires_at: Optional[Instant] = None, nx: bool = False,
              xx: bool = False, keep_ttl: bool = False,
              get: bool = False) -> Call[SetResult]:
    """Set a value and its expiry in one step: SET of Redis. `nx`: only if the
    key does not exist; `xx`: only if it does; `get`: return the previous
    value. False: `nx` or `xx` refused it."""
    memory = Memory()
    flags = _bit(nx, lib.HF_SET_NX) | _bit(xx, lib.HF_SET_XX) | \
        _bit(keep_ttl, lib.HF_SET_KEEPTTL) | _bit(get, lib.HF_SET_GET)
    previous = memory.out("hf_buffer *")
    options = _set_options(memory, ttl, expires_at, flags)
    return Call("value_set", (memory.view(key), memory.view(value), options,
                              previous), memory,
                lambda status: SetResult(_found(status),
                                         take_buffer(previous)), _REFUSED)


def value_get(key: Key) -> Call[Optional[bytes]]:
    """Read a value. None: no such key."""
    memory = Memory()
    value = memory.out("hf_buffer *")
    return Call("value_get", (memory.view(key), value), memory,
                lambda status: take_buffer(value), (Status.NOT_FOUND,))


def value_get_expire(key: Key, *, ttl: Optional[Duration] = None,
                     expires_at: Optional[Instant] = None,
                     persist: bool = False) -> Call[Optional[bytes]]:
    """Read a value and set its expiry in one step: GETEX of Redis. Exactly one
    of the three is given. None: no such key."""
    memory = Memory()
    value = memory.out("hf_buffer *")
    options = _expire_options(memory, ttl, expires_at, persist)
    return Call("value_get_expire", (memory.view(key), options, value), memory,
                lambda status: take_buffer(value), (Status.NOT_FOUND,))


def value_delete(key: Key) -> Call[bool]:
    """Delete a value. False: no such key."""
    memory = Memory()
    return Call("value_delete", (memory.view(key),), memory, _found,
                (Status.NOT_FOUND,))


def value_cas(key: Key, expected: Optional[Value], value: Value, *,
              ttl: Optional[Duration] = None,
              once: bool = False) -> Call[CasResult]:
    """Compare and set: replace a value only if it is `expected`; None: only if
    the key does not exist. It keeps its time to live unless `ttl` is given.
    `once`: do not send it again if the reply is lost."""
    memory = Memory()
    current = memory.out("hf_buffer *")
    return Call("value_cas", (memory.view(key), memory.maybe(expected),
                              memory.view(value),
                              _cas_options(memory, ttl, once), current), memory,
                lambda status: CasResult(_found(status), take_buffer(current)),
                _REFUSED)


def value_delete_if(key: Key, expected: Value) -> Call[CasResult]:
    """Compare and delete."""
    memory = Memory()
    current = memory.out("hf_buffer *")
    return Call("value_delete_if", (memory.view(key), memory.view(expected),
                                    current), memory,
                lambda status: CasResult(_found(status), take_buffer(current)),
                _REFUSED)


def value_expire_if(key: Key, expected: Value, *,
                    ttl: Optional[Duration] = None,
                    expires_at: Optional[Instant] = None,
                    persist: bool = False) -> Call[CasResult]:
    """Compare and expire: exactly one of the three new expiries is given."""
    memory = Memory()
    current = memory.out("hf_buffer *")
    options = _expire_options(memory, ttl, expires_at, persist)
    return Call("value_expire_if", (memory.view(key), memory.view(expected),
                                    options, current), memory,
                lambda status: CasResult(_found(status), take_buffer(current)),
                _REFUSED)


def value_append(key: Key, value: Value) -> Call[int]:
    """Append bytes to a value; its size afterwards."""
    memory = Memory()
    size = memory.out("size_t *")
    return Call("value_append", (memory.view(key), memory.view(value), size),
                memory, lambda status: int(size[0]))


def value_add(key: Key, delta: int = 1, *, min: Optional[int] = None,
              max: Optional[int] = None,
              ttl: Optional[Duration] = None) -> Call[Optional[int]]:
    """Add to a counter; the result. None: it would be out of bounds. `ttl` is
    that of a key that is created."""
    memory = Memory()
    value = memory.out("int64_t *")
    options = _add_options(memory, min, max, ttl)
    return Call("value_add", (memory.view(key), delta, options, value), memory,
                lambda status: int(value[0]) if _found(status) else None,
                (Status.CONFLICT,))


def value_put_fenced(key: Key, value: Value, token: int, *,
                     ttl: Optional[Duration] = None,
                     keep_ttl: bool = False) -> Call[bool]:
    """Set a value with the fencing token of the lock that protects it. False:
    a newer holder has written."""
    memory = Memory()
    highest = memory.out("uint64_t *")
    options = _set_options(memory, ttl, None,
                           _bit(keep_ttl, lib.HF_SET_KEEPTTL))
    return Call("value_put_fenced", (memory.view(key), memory.view(value),
                                     token, options, highest), memory, _found,
                (Status.CONFLICT,))


# ------------------------------------------------------------------- hashes


def _hash_options(memory: Memory, ttl: Optional[Duration],
                  field_ttl: Optional[Duration], flags: int) -> Any:
    options = memory.struct("hf_hash_put_options")
    options.flags = flags
    options.ttl_ms = milliseconds(ttl)
    options.field_ttl_ms = milliseconds(field_ttl)
    return options


def _take_fields(fields: Any) -> "dict[bytes, bytes]":
    found = {bytes_of(fields.items[i].name): bytes_of(fields.items[i].value)
             for i in range(fields.count)}
    lib.hf_fields_free(fields)
    return found


def value_get_revised(key: Key) -> Call[Optional[Revised]]:
    """Read a value and its revision, a number that never comes again. None: no
    such key."""
    memory = Memory()
    value = memory.out("hf_buffer *")
    revision = memory.out("uint64_t *")
    return Call("value_get_revised", (memory.view(key), value, revision),
                memory, lambda status: Revised(
                    take_buffer(value) or b"", int(revision[0]))
                if _found(status) else None, (Status.NOT_FOUND,))


def value_put_revised(key: Key, value: Value, expected: Optional[int], *,
                      ttl: Optional[Duration] = None,
                      keep_ttl: bool = False) -> Call[RevisedResult]:
    """Set a value if it has this revision; 0: if the key does not exist; None:
    in any case."""
    memory = Memory()
    revision = memory.out("uint64_t *")
    options = _set_options(memory, ttl, None,
                           _bit(keep_ttl, lib.HF_SET_KEEPTTL))
    return Call("value_put_revised", (memory.view(key), memory.view(value),
                                      _expected(expected), options, revision),
                memory, lambda status: RevisedResult(
                    _found(status), int(revision[0])), _REFUSED)


def value_delete_revised(key: Key, expected: Optional[int]) -> \
        Call[RevisedResult]:
    """Delete a value if it has this revision; None: in any case."""
    memory = Memory()
    revision = memory.out("uint64_t *")
    return Call("value_delete_revised", (memory.view(key), _expected(expected),
                                         revision), memory,
                lambda status: RevisedResult(_found(status), int(revision[0])),
                _REFUSED)


def hash_put(key: Key, fields: Fields, *,
             ttl: Optional[Duration] = None,
             field_ttl: Optional[Duration] = None, nx: bool = False,
             xx: bool = False, replace: bool = False,
             persist: bool = False) -> Call[bool]:
    """Write fields, and the time to live of the key (`ttl`) or of these fields
    (`field_ttl`), in one step. `replace`: delete all other fields; `persist`:
    remove the key's time to live. False: `nx` or `xx` refused it."""
    memory = Memory()
    flags = _bit(nx, lib.HF_HASH_NX) | _bit(xx, lib.HF_HASH_XX) | \
        _bit(replace, lib.HF_HASH_REPLACE) | \
        _bit(persist, lib.HF_HASH_PERSIST)
    return Call("hash_put", (memory.view(key), *memory.fields(fields),
                             _hash_options(memory, ttl, field_ttl, flags)),
                memory, _found, _REFUSED)


def hash_put_fenced(key: Key, fields: Fields, token: int, *,
                    ttl: Optional[Duration] = None,
                    replace: bool = False) -> Call[bool]:
    """Write fields with the fencing token of the lock that protects the hash.
    False: a newer holder has written."""
    memory = Memory()
    highest = memory.out("uint64_t *")
    options = _hash_options(memory, ttl, None,
                            _bit(replace, lib.HF_HASH_REPLACE))
    return Call("hash_put_fenced", (memory.view(key), *memory.fields(fields),
                                    token, options, highest), memory, _found,
                (Status.CONFLICT,))


def hash_get(key: Key, field: Key) -> Call[Optional[bytes]]:
    """Read a field. None: no such key or field."""
    memory = Memory()
    value = memory.out("hf_buffer *")
    return Call("hash_get", (memory.view(key), memory.view(field), value),
                memory, lambda status: take_buffer(value), (Status.NOT_FOUND,))


def hash_get_fields(key: Key, names: Iterable[Key]
                    ) -> Call[Dict[Key, Optional[bytes]]]:
    """Read some fields; None for those that do not exist."""
    memory = Memory()
    wanted = list(names)
    views, count = memory.views(wanted)
    values = memory.out("hf_buffer[]", max(count, 1))
    return Call("hash_get_fields", (memory.view(key), views, count, values),
                memory, lambda status: {
                    name: take_buffer(values + i)
                    for i, name in enumerate(wanted)}, (Status.NOT_FOUND,))


def hash_get_all(key: Key) -> Call[Dict[bytes, bytes]]:
    """Read all fields; empty: no such key."""
    memory = Memory()
    fields = memory.out("hf_fields *")
    return Call("hash_get_all", (memory.view(key), fields), memory,
                lambda status: _take_fields(fields), (Status.NOT_FOUND,))


def hash_cas(key: Key, field: Key, expected: Optional[Value], value: Value, *,
             ttl: Optional[Duration] = None,
             once: bool = False) -> Call[CasResult]:
    """Compare and set a field; None: only if it does not exist. `ttl` is the
    key's."""
    memory = Memory()
    current = memory.out("hf_buffer *")
    return Call("hash_cas", (memory.view(key), memory.view(field),
                             memory.maybe(expected), memory.view(value),
                             _cas_options(memory, ttl, once), current), memory,
                lambda status: CasResult(_found(status), take_buffer(current)),
                _REFUSED)


def hash_add(key: Key, field: Key, delta: int = 1, *,
             min: Optional[int] = None, max: Optional[int] = None,
             ttl: Optional[Duration] = None) -> Call[Optional[int]]:
    """Add to a field; the result. None: it would be out of bounds."""
    memory = Memory()
    value = memory.out("int64_t *")
    options = _add_options(memory, min, max, ttl)
    return Call("hash_add", (memory.view(key), memory.view(field), delta,
                             options, value), memory,
                lambda status: int(value[0]) if _found(status) else None,
                (Status.CONFLICT,))


def hash_delete_fields(key: Key, names: Iterable[Key]) -> Call[int]:
    """Delete fields; how many existed."""
    memory = Memory()
    deleted = memory.out("size_t *")
    return Call("hash_delete_fields", (memory.view(key), *memory.views(names),
                                       deleted), memory,
                lambda status: int(deleted[0]))


def hash_expire_fields(key: Key, names: Iterable[Key],
                       ttl: Optional[Duration]) -> Call[int]:
    """Set the time to live of fields; None: they no longer expire. How many
    exist."""
    memory = Memory()
    found = memory.out("size_t *")
    return Call("hash_expire_fields",
                (memory.view(key), milliseconds(ttl, -1), *memory.views(names),
                 found), memory, lambda status: int(found[0]),
                (Status.NOT_FOUND,))


def hash_ttl_fields(key: Key, names: Iterable[Key]
                    ) -> Call[Dict[Key, Optional[float]]]:
    """The times to live of fields, seconds: math.inf for those that do not
    expire, None for those that do not exist."""
    memory = Memory()
    wanted = list(names)
    views, count = memory.views(wanted)
    ttls = memory.out("int64_t[]", [-2] * count or 1)
    return Call("hash_ttl_fields", (memory.view(key), views, count, ttls),
                memory, lambda status: {
                    name: _seconds(ttls[i]) for i, name in enumerate(wanted)},
                (Status.NOT_FOUND,))


def hash_delete(key: Key) -> Call[bool]:
    """Delete a hash. False: no such key."""
    memory = Memory()
    return Call("hash_delete", (memory.view(key),), memory, _found,
                (Status.NOT_FOUND,))


# --------------------------------------------------------------------- keys


def _seconds(ms: int) -> Optional[float]:
    return None if ms == -2 else math.inf if ms == -1 else ms / 1000


def key_ttl(key: Key) -> Call[Optional[float]]:
    """The time to live of a key, seconds; math.inf: it does not expire; None:
    no such key."""
    memory = Memory()
    ttl = memory.out("int64_t *", -2)
    return Call("key_ttl", (memory.view(key), ttl), memory,
                lambda status: _seconds(ttl[0]), (Status.NOT_FOUND,))


def key_expire(key: Key, ttl: Optional[Duration]) -> Call[bool]:
    """Set the time to live of a key; None: it no longer expires. False: no such
    key."""
    memory = Memory()
    return Call("key_expire", (memory.view(key), milliseconds(ttl, -1)), memory,
                _found, (Status.NOT_FOUND,))


def key_type(key: Key) -> Call[Optional[str]]:
    """What a key is: "string", "hash", "timeline", "lock" ... None: no such
    key."""
    memory = Memory()
    kind = memory.out("hf_buffer *")

    def finish(status: int) -> Optional[str]:
        taken = take_buffer(kind)
        return None if taken is None else taken.decode()

    return Call("key_type", (memory.view(key), kind), memory, finish,
                (Status.NOT_FOUND,))


def key_delete(key: Key) -> Call[bool]:
    """Delete a key of any type, with what belongs to it. False: no such
    key."""
    memory = Memory()
    return Call("key_delete", (memory.view(key),), memory, _found,
                (Status.NOT_FOUND,))


# ---------------------------------------------------------------- timelines


def _item(raw: Any) -> Item:
    attributes: Dict[str, Union[float, bytes]] = {}
    for i in range(raw.attribute_count):
        one = raw.attributes[i]
        name = bytes_of(one.name).decode(errors="surrogateescape")
        attributes[name] = one.number if one.kind == lib.HF_ATTRIBUTE_NUMBER \
            else bytes_of(one.text)
    return Item(bytes_of(raw.id), bytes_of(raw.payload), instant_of(raw.at_ms),
                raw.ttl_ms / 1000, attributes)


def _take_items(raw: Any) -> Page:
    page = Page([_item(raw.items[i]) for i in range(raw.count)],
                bytes_of(raw.next))
    lib.hf_timeline_items_free(raw)
    return page


def timeline_add(key: Key, id: Key, payload: Value, ttl: Duration, *,
                 at: Optional[Instant] = None,
                 attributes: Optional[Attributes] = None,
                 nx: bool = False) -> Call[bool]:
    """Add an item that lives for `ttl`, or replace the one with its id. `at`:
    its time; None: now. False: `nx`, and there is one."""
    memory = Memory()
    options = memory.struct("hf_timeline_add_options")
    options.flags = _bit(nx, lib.HF_TIMELINE_NX)
    options.at_ms = unix_milliseconds(at)
    options.attributes, options.attribute_count = \
        memory.attributes(attributes or {})
    return Call("timeline_add", (memory.view(key), memory.view(id),
                                 memory.view(payload), milliseconds(ttl),
                                 options), memory, _found, (Status.CONFLICT,))


def timeline_get(key: Key, id: Key) -> Call[Optional[Item]]:
    """Read an item. None: there is none, or it has expired."""
    memory = Memory()
    found = memory.out("hf_timeline_items *")
    return Call("timeline_get", (memory.view(key), memory.view(id), found),
                memory, lambda status: _take_items(found).items[0]
                if _found(status) else None, (Status.NOT_FOUND,))


def timeline_remove(key: Key, id: Key) -> Call[bool]:
    """Remove an item. False: there was none."""
    memory = Memory()
    return Call("timeline_remove", (memory.view(key), memory.view(id)), memory,
                _found, (Status.NOT_FOUND,))


def timeline_count(key: Key) -> Call[int]:
    """Count the items that have not expired."""
    memory = Memory()
    count = memory.out("size_t *")
    return Call("timeline_count", (memory.view(key), count), memory,
                lambda status: int(count[0]))


def timeline_page(key: Key, *, limit: int = 0, offset: int = 0,
                  cursor: Value = b"", ascending: bool = False,
                  order_by: Key = b"", min: Optional[float] = None,
                  max: Optional[float] = None,
                  since: Optional[Instant] = None,
                  until: Optional[Instant] = None) -> Call[Page]:
    """Read items, newest first, or in the order of an attribute (`order_by`,
    from `min` to `max`). `cursor`: Page.next of the page before. `limit` 0: 20.
    `since`, `until`: only items of these times."""
    memory = Memory()
    options = memory.struct("hf_timeline_page_options")
    options.flags = _bit(ascending, lib.HF_TIMELINE_ASCENDING)
    options.limit, options.offset = limit, offset
    options.cursor.data, options.cursor.size = memory.data(cursor)
    options.order_by.data, options.order_by.size = memory.data(order_by)
    if min is not None:
        options.min = memory.out("double *", min)
    if max is not None:
        options.max = memory.out("double *", max)
    options.from_ms = unix_milliseconds(since)
    options.to_ms = unix_milliseconds(until)
    page = memory.out("hf_timeline_items *")
    return Call("timeline_page", (memory.view(key), options, page), memory,
                lambda status: _take_items(page))


def timeline_update(key: Key, id: Key, *, payload: Optional[Value] = None,
                    at: Optional[Instant] = None,
                    ttl: Optional[Duration] = None,
                    attributes: Optional[Attributes] = None,
                    replace: bool = False) -> Call[bool]:
    """Change what is given of an item. `replace`: drop the other attributes.
    False: there is no such item."""
    memory = Memory()
    options = memory.struct("hf_timeline_update_options")
    options.flags = _bit(replace, lib.HF_TIMELINE_REPLACE)
    options.payload = memory.maybe(payload)
    options.at_ms = unix_milliseconds(at)
    options.ttl_ms = milliseconds(ttl)
    options.attributes, options.attribute_count = \
        memory.attributes(attributes or {})
    return Call("timeline_update", (memory.view(key), memory.view(id), options),
                memory, _found, (Status.NOT_FOUND,))


def timeline_trim(key: Key, *, until: Optional[Instant] = None,
                  keep: Optional[int] = None) -> Call[Trimmed]:
    """Remove the items up to a time, and all but the newest `keep`."""
    memory = Memory()
    trimmed = memory.out("hf_timeline_trimmed *")
    return Call("timeline_trim", (memory.view(key), unix_milliseconds(until),
                                  -1 if keep is None else keep, trimmed),
                memory, lambda status: Trimmed(int(trimmed.removed),
                                               bool(trimmed.more)))


def timeline_delete(key: Key) -> Call[bool]:
    """Delete a timeline with all its items. False: there is none."""
    memory = Memory()
    return Call("timeline_delete", (memory.view(key),), memory, _found,
                (Status.NOT_FOUND,))


# --------------------------------------------------------------------- sets


def set_add(key: Key, members: Iterable[Key], *,
            ttl: Optional[Duration] = None, nx: bool = False,
            xx: bool = False, keep_ttl: bool = False) -> Call[int]:
    """Add members that live for `ttl`; without it those that are there keep
    theirs, and new ones do not expire. `nx`: only new ones; `xx`: only those
    that are there; `keep_ttl`: only new ones get `ttl`. How many are new."""
    memory = Memory()
    options = memory.struct("hf_set_add_options")
    options.flags = _bit(nx, lib.HF_SET_NX) | _bit(xx, lib.HF_SET_XX) | \
        _bit(keep_ttl, lib.HF_SET_KEEPTTL)
    options.ttl_ms = milliseconds(ttl)
    added = memory.out("size_t *")
    return Call("set_add", (memory.view(key), *memory.views(members), options,
                            added), memory, lambda status: int(added[0]))


def set_remove(key: Key, members: Iterable[Key]) -> Call[int]:
    """Remove members; how many were there."""
    memory = Memory()
    removed = memory.out("size_t *")
    return Call("set_remove", (memory.view(key), *memory.views(members),
                               removed), memory,
                lambda status: int(removed[0]))


def set_has(key: Key, member: Key) -> Call[Optional[float]]:
    """The time to live of a member, seconds; math.inf: it does not expire;
    None: no such member."""
    memory = Memory()
    ttl = memory.out("int64_t *", -2)
    return Call("set_has", (memory.view(key), memory.view(member), ttl), memory,
                lambda status: _seconds(ttl[0]), (Status.NOT_FOUND,))


def set_has_members(key: Key, members: Iterable[Key]
                    ) -> Call[Dict[Key, Optional[float]]]:
    """The same of some members, at one instant."""
    memory = Memory()
    wanted = list(members)
    views, count = memory.views(wanted)
    ttls = memory.out("int64_t[]", [-2] * count or 1)
    return Call("set_has_members", (memory.view(key), views, count, ttls),
                memory, lambda status: {
                    member: _seconds(ttls[i])
                    for i, member in enumerate(wanted)})


def set_count(key: Key) -> Call[int]:
    """Count the members that have not expired."""
    memory = Memory()
    count = memory.out("size_t *")
    return Call("set_count", (memory.view(key), count), memory,
                lambda status: int(count[0]))


def set_expire(key: Key, members: Iterable[Key],
               ttl: Optional[Duration]) -> Call[int]:
    """Set the time to live of members; None: they no longer expire. How many
    are there."""
    memory = Memory()
    found = memory.out("size_t *")
    return Call("set_expire", (memory.view(key), milliseconds(ttl, -1),
                               *memory.views(members), found), memory,
                lambda status: int(found[0]))


def _take_set(raw: Any) -> SetPage:
    page = SetPage({bytes_of(raw.items[i].member):
                    _seconds(raw.items[i].ttl_ms) or 0.0
                    for i in range(raw.count)}, bytes_of(raw.next))
    lib.hf_set_members_free(raw)
    return page


def set_page(key: Key, *, cursor: Value = b"", limit: int = 0) -> Call[SetPage]:
    """Read members, in no order. `cursor`: SetPage.next of the page before.
    `limit`: about how many; 0: 100."""
    memory = Memory()
    page = memory.out("hf_set_members *")
    return Call("set_page", (memory.view(key), memory.view(cursor), limit,
                             page), memory, lambda status: _take_set(page))


# -------------------------------------------------------------------- ranks


def _rank_options(memory: Memory, ttl: Optional[Duration], nx: bool, xx: bool,
                  gt: bool, lt: bool, keep_ttl: bool) -> Any:
    options = memory.struct("hf_rank_add_options")
    options.flags = _bit(nx, lib.HF_RANK_NX) | _bit(xx, lib.HF_RANK_XX) | \
        _bit(gt, lib.HF_RANK_GT) | _bit(lt, lib.HF_RANK_LT) | \
        _bit(keep_ttl, lib.HF_RANK_KEEPTTL)
    options.ttl_ms = milliseconds(ttl)
    return options


def _place(status: int, raw: Any) -> Optional[RankPlace]:
    return RankPlace(raw.score, int(raw.rank), int(raw.count)) \
        if _found(status) else None


def _take_ranked(raw: Any) -> List[RankMember]:
    members = [RankMember(bytes_of(one.member), one.score, int(one.rank),
                          _seconds(one.ttl_ms) or 0.0)
               for one in (raw.items[i] for i in range(raw.count))]
    lib.hf_rank_members_free(raw)
    return members


def rank_add(key: Key, member: Key, score: float, *,
             ttl: Optional[Duration] = None, nx: bool = False, xx: bool = False,
             gt: bool = False, lt: bool = False,
             keep_ttl: bool = False) -> Call[bool]:
    """Give a member a score, and a time to live. `nx`: only if it is new; `xx`:
    only if it is there; `gt`, `lt`: only if its score becomes greater or less,
    or it is new; `keep_ttl`: one that is there keeps its own. False: refused
    by one of these."""
    memory = Memory()
    options = _rank_options(memory, ttl, nx, xx, gt, lt, keep_ttl)
    return Call("rank_add", (memory.view(key), memory.view(member), score,
                             options, ffi.NULL), memory, _found, _REFUSED)


def rank_increment(key: Key, member: Key, delta: float = 1, *,
                   ttl: Optional[Duration] = None, nx: bool = False,
                   xx: bool = False, gt: bool = False, lt: bool = False,
                   keep_ttl: bool = False) -> Call[Optional[RankPlace]]:
    """Add to the score of a member, 0 of a new one; where it is then. The
    options are those of rank_add(). None: refused by one of these."""
    memory = Memory()
    options = _rank_options(memory, ttl, nx, xx, gt, lt, keep_ttl)
    place = memory.out("hf_rank_place *")
    return Call("rank_increment", (memory.view(key), memory.view(member), delta,
                                   options, place), memory,
                lambda status: _place(status, place), _REFUSED)


def rank_get(key: Key, member: Key) -> Call[Optional[RankPlace]]:
    """Where a member is. None: no such member, or it has expired."""
    memory = Memory()
    place = memory.out("hf_rank_place *")
    return Call("rank_get", (memory.view(key), memory.view(member), place,
                             ffi.NULL), memory,
                lambda status: _place(status, place), (Status.NOT_FOUND,))


def rank_page(key: Key, *, offset: int = 0, limit: int = 0,
              ascending: bool = False) -> Call[List[RankMember]]:
    """The top members, or those of the least scores (`ascending`). `limit` 0:
    20."""
    memory = Memory()
    page = memory.out("hf_rank_members *")
    return Call("rank_page", (memory.view(key), offset, limit,
                              _bit(ascending, lib.HF_RANK_ASCENDING), page),
                memory, lambda status: _take_ranked(page))


def rank_around(key: Key, member: Key, each: int, *,
                ascending: bool = False) -> Call[List[RankMember]]:
    """A member, and at most `each` on each side of it; empty: no such
    member."""
    memory = Memory()
    page = memory.out("hf_rank_members *")
    return Call("rank_around", (memory.view(key), memory.view(member), each,
                                _bit(ascending, lib.HF_RANK_ASCENDING), page),
                memory, lambda status: _take_ranked(page), (Status.NOT_FOUND,))


def rank_count(key: Key, *, min: Optional[float] = None,
               max: Optional[float] = None) -> Call[int]:
    """Count the members, or those whose score is from `min` to `max`."""
    memory = Memory()
    least, most = (ffi.NULL if bound is None else memory.out("double *", bound)
                   for bound in (min, max))
    count = memory.out("size_t *")
    return Call("rank_count", (memory.view(key), least, most, count), memory,
                lambda status: int(count[0]))


def rank_remove(key: Key, members: Iterable[Key]) -> Call[int]:
    """Remove members; how many were there."""
    memory = Memory()
    removed = memory.out("size_t *")
    return Call("rank_remove", (memory.view(key), *memory.views(members),
                                removed), memory,
                lambda status: int(removed[0]))


def rank_trim(key: Key, *, keep: Optional[int] = None) -> Call[Trimmed]:
    """Remove members that have expired, and all but the top `keep`."""
    memory = Memory()
    trimmed = memory.out("hf_rank_trimmed *")
    return Call("rank_trim", (memory.view(key), -1 if keep is None else keep,
                              trimmed), memory,
                lambda status: Trimmed(int(trimmed.removed),
                                       bool(trimmed.more)))


def rank_expire(key: Key, member: Key, ttl: Optional[Duration]) -> Call[bool]:
    """Set the time to live of a member; None: it no longer expires. False: no
    such member."""
    memory = Memory()
    return Call("rank_expire", (memory.view(key), memory.view(member),
                                milliseconds(ttl, -1)), memory, _found,
                (Status.NOT_FOUND,))


# ------------------------------------------------------------------- queues


def job_of(raw: Any) -> JobInfo:
    return JobInfo(bytes_of(raw.id), bytes_of(raw.payload), bytes_of(raw.group),
                   int(raw.attempt), int(raw.attempts), int(raw.priority),
                   instant_of(raw.put_ms))


def queue_put(queue: Key, payload: Value, *, id: Key = b"",
              delay: Optional[Duration] = None, priority: int = 0,
              attempts: int = 0, remember: Optional[Duration] = None,
              group: Key = b"") -> Call[bool]:
    """Put a job. `delay`: no one takes it before; `priority`: 0 to 9, the
    highest first; `attempts`: then it is a dead letter (0: no limit);
    `remember`: how long its id is refused, even after it is done; of a `group`
    one job at a time is taken. False: the queue has a job with that id, or
    remembers it."""
    memory = Memory()
    options = memory.struct("hf_queue_options")
    options.delay_ms, options.priority = milliseconds(delay), priority
    options.attempts, options.remember_ms = attempts, milliseconds(remember)
    options.group = memory.view(group)
    return Call("queue_put", (memory.view(queue), memory.view(id),
                              memory.view(payload), options), memory, _found,
                (Status.CONFLICT,))


def queue_inspect(queue: Key) -> Call[QueueInfo]:
    """How many jobs are in which state."""
    memory = Memory()
    info = memory.struct("hf_queue_info")
    return Call("queue_inspect", (memory.view(queue), info), memory,
                lambda status: QueueInfo(
                    info.ready, info.taken, info.delayed, info.behind,
                    info.dead, info.remembered, info.waiters, info.paused))


def queue_list(queue: Key, state: JobState, *, offset: int = 0,
               count: int = 100) -> Call[List[JobInfo]]:
    """The jobs in one state, at most `count`. They are not taken by this."""
    memory = Memory()
    jobs = memory.out("hf_queue_jobs *")

    def finish(status: int) -> List[JobInfo]:
        found = [job_of(jobs.jobs[i]) for i in range(jobs.count)]
        lib.hf_queue_jobs_free(jobs)
        return found

    number = getattr(lib, f"HF_QUEUE_{state.upper()}")
    return Call("queue_list", (memory.view(queue), number, offset, count, jobs),
                memory, finish)


def queue_pause(queue: Key, paused: bool = True) -> Call[None]:
    """Give no job to anyone; False: give jobs again."""
    memory = Memory()
    return Call("queue_pause", (memory.view(queue), paused), memory,
                lambda status: None)


def queue_revive(queue: Key, id: Key = b"", *, count: int = 1) -> Call[int]:
    """Move a dead letter back; without an id, the `count` that are that for
    longest. How many."""
    memory = Memory()
    moved = memory.out("int64_t *")
    return Call("queue_revive", (memory.view(queue), memory.view(id), count,
                                 moved), memory, lambda status: int(moved[0]),
                (Status.NOT_FOUND,))


# --------------------------------------------------------------------- once


def once_inspect(key: Key) -> Call[Optional[OnceInfo]]:
    """The record of a piece of work; None: there is none."""
    memory = Memory()
    info = memory.struct("hf_once_info")

    def finish(status: int) -> Optional[OnceInfo]:
        if not _found(status):
            return None
        state = {lib.HF_ONCE_CLAIMED: "claimed", lib.HF_ONCE_DONE: "done"}.get(
            info.state, "doubt")
        result = OnceResult(int(info.status), bytes_of(info.result))
        lib.hf_once_info_free(info)
        return OnceInfo(
            state, info.remaining_ms / 1000, int(info.waiters),
            instant_of(info.tick_ms) if info.tick_ms else None,
            int(info.token), ffi.string(info.owner).decode(),
            result if state == "done" else None)

    return Call("once_inspect", (memory.view(key), info), memory, finish,
                (Status.NOT_FOUND,))


def once_delete(key: Key) -> Call[bool]:
    """Delete the record of a piece of work, in whatever state: the work is new.
    False: there was none."""
    memory = Memory()
    return Call("once_delete", (memory.view(key),), memory, _found,
                (Status.NOT_FOUND,))


# ------------------------------------------------------------------- caches


def cache_options(memory: Memory, tags: Iterable[Key],
                  **times: Optional[Duration]) -> Any:
    options = memory.struct("hf_cache_options")
    options.tags, options.tag_count = memory.views(tags)
    for name, time in times.items():
        setattr(options, f"{name}_ms", milliseconds(time))
    return options


def cache_get(key: Key, *, stale: bool = False,
              tags: Iterable[Key] = ()) -> Call[Optional[bytes]]:
    """The value of an entry if it is fresh (`stale`: also if it is not)."""
    memory = Memory()
    value = memory.out("hf_buffer *")
    options = cache_options(memory, tags)
    options.flags = _bit(stale, lib.HF_CACHE_STALE)
    return Call("cache_get", (memory.view(key), options, value), memory,
                lambda status: take_buffer(value), (Status.NOT_FOUND,))


def cache_put(key: Key, value: Value, *, ttl: Duration,
              stale: Optional[Duration] = None,
              error: Optional[Duration] = None,
              tags: Iterable[Key] = ()) -> Call[None]:
    """Store an entry that is fresh for `ttl`, then stale for `stale`, or for
    `error` if filling it fails."""
    memory = Memory()
    options = cache_options(memory, tags, ttl=ttl, stale=stale, error=error)
    return Call("cache_put", (memory.view(key), memory.view(value), options),
                memory, lambda status: None)


def cache_delete(key: Key) -> Call[bool]:
    """Delete an entry. False: there was none."""
    memory = Memory()
    return Call("cache_delete", (memory.view(key),), memory, _found,
                (Status.NOT_FOUND,))


def cache_invalidate(tag: Key) -> Call[bool]:
    """Invalidate all entries with a tag, in one step. False: there is none."""
    memory = Memory()
    return Call("cache_invalidate", (memory.view(tag),), memory, _found,
                (Status.NOT_FOUND,))
