# SPDX-License-Identifier: Apache-2.0
"""An operation of a transaction, and its result once that was executed."""

from __future__ import annotations

from typing import Generic, Optional, TypeVar

from ._core import Call, Status, error_of

T = TypeVar("T")


class Queued(Generic[T]):
    """`result` has what the method of a client would have returned."""

    def __init__(self, call: Call[T]) -> None:
        self._call = call
        self._status: Optional[int] = None
        self._result: Optional[T] = None

    def _complete(self, status: int) -> None:
        self._status = status
        if status == Status.OK or status in self._call.outcomes:
            self._result = self._call.finish(status)

    @property
    def result(self) -> T:
        """Raises what the operation failed with, or RuntimeError before the
        transaction was executed."""
        if self._status is None:
            raise RuntimeError("the transaction was not executed")
        if self._status != Status.OK and \
                self._status not in self._call.outcomes:
            raise error_of(self._status)
        return self._result  # type: ignore[return-value]
