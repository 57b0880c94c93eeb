# SPDX-License-Identifier: Apache-2.0
"""The articles of docs/explanation/articles.md, with their keys and values."""

import math
import time
from datetime import timedelta
from typing import Callable

import pytest

import holdfast
from holdfast import Client

Name = Callable[[str], str]


def test_1_a_hash_and_its_expiry(store: Client, name: Name) -> None:
    key = name("key")
    fields = {"field1": "value1", "field2": "value2"}
    assert store.hash_put(key, fields, ttl=1000)
    assert store.hash_get_all(key) == {b"field1": b"value1",
                                       b"field2": b"value2"}
    ttl = store.key_ttl(key)
    assert ttl is not None and 990 < ttl <= 1000
    assert not store.hash_put(key, {"field1": "x"}, nx=True)
    assert not store.hash_put(name("none"), {"field1": "x"}, xx=True)
    assert store.hash_put(key, {"field3": b"\0\xff"}, replace=True,
                          persist=True)
    assert store.hash_get_fields(key, ["field1", "field3"]) == \
        {"field1": None, "field3": b"\0\xff"}
    assert store.key_ttl(key) == math.inf
    assert store.hash_add(key, "n", 5, max=7) == 5
    assert store.hash_add(key, "n", 5, max=7) is None
    assert store.hash_delete_fields(key, ["n", "none"]) == 1
    assert store.hash_delete(key) and not store.hash_delete(key)


def test_1_fields_that_expire(store: Client, name: Name) -> None:
    key = name("hash")
    store.hash_put(key, {"stays": "1"})
    try:
        store.hash_put(key, {"goes": "2"}, field_ttl=0.05)
    except holdfast.UsageError as error:
        assert error.status == holdfast.Status.UNSUPPORTED
        pytest.skip("the server has no HPEXPIRE")
    ttls = store.hash_ttl_fields(key, ["stays", "none"])
    assert ttls == {"stays": math.inf, "none": None}
    time.sleep(0.1)
    assert store.hash_get_all(key) == {b"stays": b"1"}
    assert store.hash_expire_fields(key, ["stays", "none"], 60) == 1
    left = store.hash_ttl_fields(key, ["stays"])["stays"]
    assert left is not None and 50 < left <= 60
    assert store.hash_expire_fields(key, ["stays"], None) == 1


def test_2_compare_and_set(store: Client, name: Name) -> None:
    key, hash_key = name("test:String:cas"), name("test:Hash:cas")
    assert store.value_cas(key, None, "1")
    refused = store.value_cas(key, "2", "3")
    assert not refused and refused.current == b"1"
    assert store.value_cas(key, "1", "4", ttl=timedelta(minutes=1))
    assert not store.value_cas(key, None, "5")
    assert not store.value_cas(name("none"), "1", "5")
    store.hash_put(hash_key, {"testField": "1"})
    assert store.hash_cas(hash_key, "testField", "1", "4")
    assert store.hash_cas(hash_key, "testField", "1", "5").current == b"4"
    assert store.value_expire_if(key, "4", persist=True)
    assert store.key_ttl(key) == math.inf
    assert store.value_delete_if(key, "5").current == b"4"
    assert store.value_delete_if(key, "4")


def test_3_a_list_whose_items_expire(store: Client, name: Name) -> None:
    key = name("ptxlist")
    half_a_day = timedelta(hours=12)
    for number, at in ((1, 1540458290), (2, 1540458291), (4, 1540458292),
                       (3, 1540458293), (5, 1540458294)):
        assert store.timeline_add(key, f"key{number}", f"data{number}",
                                  half_a_day, at=at,
                                  attributes={"fee": number * 10.0,
                                              "from": "ann"})
    page = store.timeline_page(key, limit=2)
    assert [item.payload for item in page.items] == [b"data5", b"data3"]
    page = store.timeline_page(key, limit=2, cursor=page.next)
    assert [item.id for item in page.items] == [b"key4", b"key2"]
    assert store.timeline_trim(key, until=1540458292) == \
        holdfast.Trimmed(3, False)
    by_fee = store.timeline_page(key, order_by="fee", ascending=True, min=20)
    assert [item.id for item in by_fee.items] == [b"key3", b"key5"]
    assert by_fee.items[0].attributes == {"fee": 30.0, "from": b"ann"}
    assert by_fee.items[0].at.timestamp() == 1540458293
    assert not store.timeline_add(key, "key5", "x", 60, nx=True)
    assert store.timeline_update(key, "key5", payload="new", ttl=2)
    item = store.timeline_get(key, "key5")
    assert item is not None and item.payload == b"new"
    time.sleep(2.1)
    assert store.timeline_get(key, "key5") is None
    assert store.timeline_count(key) == 1
    assert store.timeline_remove(key, "key3")
    assert not store.timeline_remove(key, "key3")


def test_4_set_with_expiry(store: Client, name: Name) -> None:
    key = name("key")
    assert store.value_set(key, "value", ttl=5)
    ttl = store.key_ttl(key)
    assert ttl is not None and 0 < ttl <= 5
    assert not store.value_set(key, "other", nx=True)
    assert store.value_set(key, "kept", xx=True, keep_ttl=True, get=True) == \
        holdfast.SetResult(True, b"value")
    ttl = store.key_ttl(key)
    assert ttl is not None and ttl <= 5
    assert store.value_set(key, "other", nx=True, get=True) == \
        holdfast.SetResult(False, b"kept")
    assert store.value_set(key, "later", expires_at=time.time() + 3600)
    ttl = store.key_ttl(key)
    assert ttl is not None and 3000 < ttl < 3601
    assert store.value_get_expire(key, persist=True) == b"later"
    assert store.key_ttl(key) == math.inf
    assert not store.value_set(name("none"), "x", xx=True)
    assert store.value_set(key, "gone", ttl=0.03)
    time.sleep(0.06)
    assert store.value_get(key) is None and store.key_ttl(key) is None
    assert store.value_append(key, b"ab") == 2
    assert store.value_delete(key) and not store.value_delete(key)


def test_5_a_distributed_lock(store: Client, name: Name) -> None:
    lock = store.lock(name("yang37"))
    with lock.hold(timeout=10) as held:
        assert held.held and held.token > 0 and 20 < held.remaining <= 30
        assert not lock.acquire(blocking=False)
        assert not lock.acquire(timeout=0.02)
        with pytest.raises(holdfast.WaitTimeout):
            with lock.hold(timeout=0.02):
                pass
        info = store.lock_info(lock.name)
        assert info is not None and info.owner.decode() == held.owner
        token = held.token
    assert not held.held and store.lock_info(lock.name) is None
    with lock as held:
        assert held.token > token
