# SPDX-License-Identifier: Apache-2.0
"""What every call shares: statuses, exceptions, conversions, and Call, which
describes a call once for its blocking, asynchronous and queued forms."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import (Any, Callable, Generic, Iterable, Mapping, Optional,
                    TypeVar, Union)

from ._native import ffi as ffi
from ._native import lib as lib

Key = Union[str, bytes]
Value = Union[str, bytes, bytearray, memoryview]
Duration = Union[float, timedelta]  # seconds
Instant = Union[float, datetime]  # seconds of Unix time
Attribute = Union[float, str, bytes]
# A Mapping is invariant in its keys.
Fields = Union[Mapping[str, Value], Mapping[bytes, Value], Mapping[Key, Value]]
Attributes = Mapping[str, Attribute]
T = TypeVar("T")


class Status(enum.IntEnum):
    """What a call returns in C; the hundreds digit is its family."""

    OK = 0
    HELD = 100
    CONFLICT = 101
    NOT_FOUND = 102
    LOST = 103
    TIMEOUT = 104
    EXPIRED = 105
    CANCELLED = 106
    UNAVAILABLE = 200
    FULL = 201
    INDETERMINATE = 300
    INVALID = 400
    UNSUPPORTED = 401
    DENIED = 402
    WRONG_TYPE = 403
    SCRIPT = 404
    NO_MEMORY = 500
    CORRUPT = 501
    SYSTEM = 502


# --------------------------------------------------------------- exceptions


class HoldfastError(Exception):
    """A call failed. Its subclasses say what to do about it."""

    def __init__(self, status: int, message: str, sys_errno: int = 0) -> None:
        super().__init__(message)
        #: a Status, or a number that this version does not know
        self.status = Status(status) if status in Status._value2member_map_ \
            else status
        self.message = message
        #: the errno that caused it, or 0
        self.sys_errno = sys_errno


class ConditionError(HoldfastError):
    """A condition is not met (1xx): an ordinary outcome, nothing was
    changed."""


class HeldError(ConditionError):
    """Another owner holds the lock."""


class WaitTimeout(ConditionError, TimeoutError):
    """The time to wait has passed."""


class LostError(ConditionError):
    """The lock was lost: it expired, or another owner has it."""


class DoubtError(ConditionError):
    """A claim of the work ended without a result: it may have been done or
    not."""


class RetryError(HoldfastError):
    """Not applied (2xx); the call may be repeated."""


class UnknownOutcomeError(HoldfastError):
    """The reply was lost (3xx): the call may have been applied or not. Find out
    before repeating it."""


class UsageError(HoldfastError):
    """The call must be changed (4xx): an argument is invalid, the key holds
    another type, a right is missing."""


class FatalError(HoldfastError):
    """The process or the store is broken (5xx)."""


_FAMILIES: "dict[int, type[HoldfastError]]" = {
    1: ConditionError, 2: RetryError, 3: UnknownOutcomeError, 4: UsageError,
    5: FatalError}
_SPECIAL: "dict[int, type[HoldfastError]]" = {
    Status.HELD: HeldError, Status.TIMEOUT: WaitTimeout,
    Status.LOST: LostError, Status.EXPIRED: LostError}


def error_of(status: int, err: Any = None) -> HoldfastError:
    """The exception for a status; `err` is an hf_error, or None."""
    kind = _SPECIAL.get(status) or _FAMILIES.get(status // 100, FatalError)
    if err is None or err == ffi.NULL:
        text = ffi.string(lib.hf_status_text(status)).decode()
        return kind(status, text)
    message = ffi.string(err.message).decode(errors="replace")
    return kind(status, message, err.sys_errno)


def new_error() -> Any:
    return new_struct("hf_error")


# -------------------------------------------------------------- conversions


def new_struct(name: str) -> Any:
    """As its _INIT macro: cleared, with its size."""
    made = ffi.new(f"{name} *")
    made.struct_size = ffi.sizeof(name)
    return made


def encode(text: "Union[Key, Value]") -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"str or bytes, not {type(text).__name__}")


class Memory(list):  # type: ignore[type-arg]
    """Keeps what a call points to until it has completed."""

    def data(self, text: "Union[Key, Value]") -> Any:
        raw = encode(text)
        held = ffi.from_buffer(raw)
        self.append((raw, held))
        return held, len(raw)

    def view(self, text: "Union[Key, Value]") -> Any:
        """An hf_bytes."""
        made = ffi.new("hf_bytes *")
        made.data, made.size = self.data(text)
        self.append(made)
        return made[0]

    def maybe(self, text: "Optional[Union[Key, Value]]") -> Any:
        """A pointer to an hf_bytes; NULL for None."""
        if text is None:
            return ffi.NULL
        made = ffi.new("hf_bytes *")
        made.data, made.size = self.data(text)
        self.append(made)
        return made

    def views(self, texts: "Iterable[Union[Key, Value]]") -> Any:
        """An array of hf_bytes, and how many."""
        listed = list(texts)
        made = ffi.new("hf_bytes[]", len(listed) or 1)
        for slot, text in zip(made, listed):
            slot.data, slot.size = self.data(text)
        self.append(made)
        return made, len(listed)

    def fields(self, given: Fields) -> Any:
        made = ffi.new("hf_field[]", len(given) or 1)
        for slot, (name, value) in zip(made, given.items()):
            slot.name.data, slot.name.size = self.data(name)
            slot.value.data, slot.value.size = self.data(value)
        self.append(made)
        return made, len(given)

    def attributes(self, given: Attributes) -> Any:
        made = ffi.new("hf_attribute[]", len(given) or 1)
        for slot, (name, value) in zip(made, given.items()):
            slot.name.data, slot.name.size = self.data(name)
            if isinstance(value, (str, bytes)):
                slot.kind = lib.HF_ATTRIBUTE_TEXT
                slot.text.data, slot.text.size = self.data(value)
            else:
                slot.kind = lib.HF_ATTRIBUTE_NUMBER
                slot.number = value
        self.append(made)
        return made, len(given)

    def text(self, text: "Optional[str]") -> Any:
        """A string of C; NULL for None."""
        if text is None:
            return ffi.NULL
        made = ffi.new("char[]", text.encode())
        self.append(made)
        return made

    def out(self, kind: str, *initial: Any) -> Any:
        made = ffi.new(kind, *initial)
        self.append(made)
        return made

    def struct(self, name: str) -> Any:
        made = new_struct(name)
        self.append(made)
        return made


def milliseconds(duration: "Optional[Duration]", missing: int = 0) -> int:
    """`missing` for None; at least 1 for any duration above 0."""
    if duration is None:
        return missing
    if isinstance(duration, timedelta):
        duration = duration.total_seconds()
    if duration == math.inf:
        return int(lib.HF_FOREVER)
    return math.ceil(duration * 1000)


def unix_milliseconds(instant: "Optional[Instant]") -> int:
    if instant is None:
        return 0
    if isinstance(instant, datetime):
        instant = instant.timestamp()
    return round(instant * 1000)


def instant_of(unix_ms: int) -> datetime:
    return datetime.fromtimestamp(unix_ms / 1000, timezone.utc)


def bytes_of(view: Any) -> bytes:
    return bytes(ffi.buffer(view.data, view.size)) if view.size else b""


def take_buffer(buffer: Any) -> "Optional[bytes]":
    """The contents of an hf_buffer, which is freed; None: no value."""
    if buffer.data == ffi.NULL:
        return None
    taken = bytes(ffi.buffer(buffer.data, buffer.size))
    lib.hf_buffer_free(buffer)
    return taken


# --------------------------------------------------------------------- call


@dataclass
class Call(Generic[T]):
    """A call: its function is `hf_NAME`, or `hf_NAME_start`."""

    name: str
    arguments: "tuple[Any, ...]"  # behind the client
    memory: Memory
    #: makes the result of a status that is OK or in `outcomes`
    finish: "Callable[[int], T]"
    outcomes: "tuple[int, ...]" = field(default=())

    def result(self, status: int, err: Any) -> T:
        if status != Status.OK and status not in self.outcomes:
            raise error_of(status, err)
        return self.finish(status)

    def block(self, client: Any) -> T:
        """Run it on this thread, without the GIL."""
        err = new_error()
        status = getattr(lib, f"hf_{self.name}")(client, *self.arguments, err)
        return self.result(status, err)

    def start(self, client: Any, async_: Any, err: Any) -> int:
        status: int = getattr(lib, f"hf_{self.name}_start")(
            client, *self.arguments, async_, err)
        return status


def check(status: int, err: Any) -> None:
    if status != Status.OK:
        raise error_of(status, err)
