#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""walrus_types.py - walrus: its containers, streams, models, locks, limits.

Usage: walrus_types.py PORT

Prints values, counts and orders, a line for each step.
"""

import sys

from walrus import (
    Database, IntegerField, Model, RateLimitException, SetField, TextField)

db = Database(port=int(sys.argv[1]), db=3)


class User(Model):
    __database__ = db
    __namespace__ = "test"
    name = TextField(primary_key=True)
    about = TextField(fts=True)
    age = IntegerField(index=True)
    tags = SetField()


def say(step, *values):
    print(step, *values, flush=True)


def do_containers():
    h = db.Hash("hash")
    h.update({"a": "1", "b": "2"})
    say("hash", h["a"], len(h), sorted(h.keys()), "b" in h, h.incr("a", 4))
    items = db.List("list")
    items.extend(["a", "b", "c"])
    items.prepend("0")
    say("list", items[0], items[1:3], len(items), items.pop())
    one, two = db.Set("one"), db.Set("two")
    one.add("a", "b", "c")
    two.add("b", "c", "d")
    say("set", sorted(one & two), sorted(one | two), sorted(one - two))
    z = db.ZSet("zset")
    z.add({"a": 1, "b": 2, "c": 3})
    say("zset", z.score("b"), z.rank("c"), z.range(0, -1, True),
        z.popmin(2), len(z))
    log = db.HyperLogLog("hll")
    log.add(*(str(i) for i in range(1000)))
    say("hyperloglog", len(log))
    bits = db.bit_field("bits").set("u8", 8, 255).get("u8", 8)
    say("bits", bits.execute(), db.get("bits"))
    array = db.Array("array")
    array.extend(["a", "b", "c"])
    say("array", array[1], array.pop(0), len(array), list(array))
    db.geoadd("geo", (2.35, 48.85, "Paris", 13.4, 52.5, "Berlin"))
    say("geo", db.geodist("geo", "Paris", "Berlin", "km"))


def do_streams():
    stream = db.Stream("stream")
    for i in range(10):
        stream.add({"n": str(i)}, id=f"{i + 1}-0")
    say("stream", len(stream), stream["3-0"], [key for key, _ in
                                               stream["4-0":"6-0"]],
        stream.trim(8, approximate=False), stream.delete("10-0"))
    group = db.consumer_group("group", ["stream", "other"])
    say("group", sorted(group.create().items()))
    group.set_id("0")
    db.Stream("other").add({"m": "x"}, id="1-0")
    read = group.read(count=3)
    say("group", sorted((name, [key for key, _ in messages])
                        for name, messages in read))
    pending = group.stream.pending()
    say("group", [(item["message_id"], item["times_delivered"])
                  for item in pending], group.stream.ack("3-0"),
        len(group.stream.pending()))
    other = group.consumer("other")
    say("group", [key for key, _ in other.stream.claim("4-0", "5-0")],
        [item["consumer"] for item in group.stream.pending()])
    say("group", group.stream.consumers_info() != [],
        [info["name"] for info in group.stream.consumers_info()],
        db.Stream("stream").info()["length"])
    events = db.time_series("series", ["a", "b"])
    events.create()
    say("series", events.a.add({"k": "v"}, id="5-0"),
        [message.data for message in events.read()])


def do_models():
    for i in range(20):
        user = User.create(name=f"user{i}", age=i % 5,
                           about=f"number {i} of twenty")
        user.tags.add("even" if i % 2 == 0 else "odd", "all")
    say("model", User.load("user3").age, User.count(),
        sorted(user.name for user in User.query(User.age == 3)))
    say("model", [user.age for user in User.query(
        User.age >= 3, order_by=User.age.desc())])
    say("model", sorted(user.name for user in User.query(
        User.about.match("number twenty"))))
    say("model", sorted(User.load("user1").tags))
    User.load("user3").delete()
    say("model", User.count(), sorted(
        user.name for user in User.query(User.age == 3)))


def do_rest():
    cache = db.cache("cache", default_timeout=100)
    say("cache", cache.set("key", [1, 2]), cache.get("key"), cache.get("none"),
        sorted(cache.keys()), cache.delete("key"))
    calls = []

    @cache.cached(timeout=100)
    def slow(number):
        calls.append(number)
        return number * 2

    say("cache", slow(4), slow(4), slow(5), calls)
    lock, other = db.lock("lock", 30000), db.lock("lock", 30000)
    say("lock", lock.acquire(), other.acquire(block=False), lock.release(),
        other.acquire(block=False), other.release())
    limit = db.rate_limit("limit", limit=3, per=3600)
    say("limit", [limit.limit("who") for _ in range(5)])

    @limit.rate_limited(lambda: "other")
    def limited():
        return "done"

    for _ in range(4):
        try:
            say("limit", limited())
        except RateLimitException:
            say("limit", "refused")
    complete = db.autocomplete(namespace="complete")
    for title in ("testing one", "testing two", "other thing", "test"):
        complete.store(title, title)
    say("autocomplete", list(complete.search("test")),
        list(complete.search("thi")))
    graph = db.graph("graph")
    graph.store_many([("a", "knows", "b"), ("b", "knows", "c"),
                      ("a", "likes", "c")])
    say("graph", sorted(str(item) for item in graph.query("a", None, None)))


def main():
    db.flushdb()
    do_containers()
    do_streams()
    do_models()
    do_rest()


if __name__ == "__main__":
    main()
