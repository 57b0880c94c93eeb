# SPDX-License-Identifier: Apache-2.0
"""The store that HOLDFAST_STORE names, and names that no other test uses."""

import asyncio
import itertools
import os
from typing import Any, Callable, Coroutine, Iterator

import pytest

import holdfast

_numbers = itertools.count()


@pytest.fixture()
def store() -> Iterator[holdfast.Client]:
    with holdfast.Client() as client:
        yield client


@pytest.fixture()
def name() -> Callable[[str], str]:
    """name("key") is a new one each time."""
    return lambda what: f"{what}-{os.getpid()}-{next(_numbers)}"


@pytest.fixture()
def run() -> Callable[[Callable[[holdfast.AsyncClient],
                                Coroutine[Any, Any, Any]]], Any]:
    """Run a coroutine function with an AsyncClient, for at most 120 s."""

    async def main(body: Callable[[holdfast.AsyncClient],
                                  Coroutine[Any, Any, Any]]) -> Any:
        async with holdfast.AsyncClient() as client:
            return await asyncio.wait_for(body(client), 120)

    return lambda body: asyncio.run(main(body))
