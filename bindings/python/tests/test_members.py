# SPDX-License-Identifier: Apache-2.0
"""Sets and ranks, whose members expire."""

import math
import time
from typing import Any, Callable, Coroutine

import pytest

import holdfast
from holdfast import AsyncClient, Client

Name = Callable[[str], str]
Run = Callable[[Callable[[AsyncClient], Coroutine[Any, Any, Any]]], Any]


def test_members_of_a_set_expire_one_by_one(store: Client, name: Name) -> None:
    key = name("set")
    assert store.set_add(key, ["ann", b"a\0b"]) == 2
    assert store.set_add(key, ["ann", "bob"], ttl=60) == 1
    ttl = store.set_has(key, "bob")
    assert ttl is not None and 50 < ttl <= 60
    assert store.set_has(key, b"a\0b") == math.inf
    assert store.set_has(key, "eve") is None
    some = store.set_has_members(key, ["eve", "ann"])
    assert some["eve"] is None and (some["ann"] or 0) > 50
    assert store.set_add(key, ["bob"], nx=True) == 0
    assert store.set_add(key, ["eve"], xx=True) == 0
    assert store.set_add(key, ["bob"], ttl=1, keep_ttl=True) == 0
    assert (store.set_has(key, "bob") or 0) > 50
    assert store.set_expire(key, ["bob", "eve"], None) == 1
    assert store.set_has(key, "bob") == math.inf
    page = store.set_page(key)
    assert set(page.members) == {b"ann", b"bob", b"a\0b"}
    assert page.members[b"bob"] == math.inf and page.members[b"ann"] > 50
    assert page.next == b""
    assert store.set_expire(key, ["ann"], 0.001) == 1
    time.sleep(0.02)
    assert store.set_count(key) == 2
    assert store.set_remove(key, ["ann", "bob"]) == 1
    with pytest.raises(holdfast.UsageError):
        store.set_add(key, [])


def test_pages_of_a_large_set(store: Client, name: Name) -> None:
    key = name("set")
    store.set_add(key, [f"member {n}" for n in range(1000)])
    seen: "set[bytes]" = set()
    cursor, pages = b"", 0
    while pages == 0 or cursor:
        page = store.set_page(key, cursor=cursor, limit=100)
        seen.update(page.members)
        cursor = page.next
        pages += 1
    assert len(seen) == 1000 and pages > 1


def test_a_rank_orders_members_by_score(store: Client, name: Name) -> None:
    key = name("rank")
    assert store.rank_add(key, "ann", 30) and store.rank_add(key, "bob", 10)
    assert not store.rank_add(key, "bob", 5, gt=True)
    assert not store.rank_add(key, "bob", 15, lt=True)
    assert not store.rank_add(key, "bob", 15, nx=True)
    assert not store.rank_add(key, "eve", 15, xx=True)
    place = store.rank_increment(key, "eve", 20.5, ttl=60)
    assert place == holdfast.RankPlace(20.5, 1, 3)
    assert store.rank_increment(key, "none", xx=True) is None
    place = store.rank_get(key, "bob")
    assert place is not None and place.rank == 2
    assert store.rank_get(key, "none") is None
    top = store.rank_page(key, limit=2)
    assert [(one.member, one.rank) for one in top] == [(b"ann", 0), (b"eve", 1)]
    assert top[0].ttl == math.inf and 50 < top[1].ttl <= 60
    assert store.rank_page(key, limit=1, ascending=True)[0].member == b"bob"
    assert store.rank_page(key, offset=2)[0].member == b"bob"
    assert len(store.rank_around(key, "eve", 1)) == 3
    assert store.rank_around(key, "eve", 1, ascending=True)[0].member == b"bob"
    assert store.rank_around(key, "none", 1) == []
    assert store.rank_count(key) == 3 and store.rank_count(key, min=20) == 2
    assert store.rank_count(key, max=20) == 1
    assert store.rank_expire(key, "eve", None)
    assert not store.rank_expire(key, "none", 1)
    assert store.rank_trim(key, keep=2) == holdfast.Trimmed(1, False)
    assert store.rank_trim(key).removed == 0
    assert store.rank_remove(key, ["ann", "bob"]) == 1
    with pytest.raises(holdfast.UsageError):
        store.set_count(key)


def test_members_with_asyncio(run: Run, name: Name) -> None:
    async def body(store: AsyncClient) -> None:
        players, online = name("rank"), name("set")
        await store.rank_increment(players, "ann", 5)
        assert (await store.rank_page(players))[0].member == b"ann"
        assert await store.set_add(online, ["ann"], ttl=60) == 1
        assert (await store.set_page(online)).members[b"ann"] > 50

    run(body)


def test_members_of_a_transaction(store: Client, name: Name) -> None:
    tag = f"{{{name('t')}}}"
    with store.transaction() as txn:
        added = txn.set_add(tag + "s", ["ann", "bob"])
        place = txn.rank_increment(tag + "r", "ann", 3)
    assert added.result == 2
    assert place.result == holdfast.RankPlace(3, 0, 1)
