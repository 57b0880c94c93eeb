#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calls_redis_py.py PORT PROTOCOL - redis-py's program for clients.py."""

import json
import sys
import threading
import time

import redis

ALL_BYTES = bytes(range(256))


def plain(value):
    """As JSON shows it; bytes as Latin-1, so that none is lost."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("latin-1")
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}"
    return value


def show(step, *calls):
    results = []
    for call in calls:
        try:
            results.append(plain(call()))
        except redis.RedisError as error:
            results.append(plain(error))
    print(step, json.dumps(results, sort_keys=True), flush=True)


def later(call):
    thread = threading.Thread(target=lambda: (time.sleep(0.1), call()))
    thread.start()
    return thread


def gone(r, key):
    until = time.monotonic() + 30
    while r.exists(key) and time.monotonic() < until:
        time.sleep(0.01)
    return r.get(key)


def strings(r):
    show("connect", r.ping, lambda: r.echo("hello"), lambda: r.client_id() > 0,
         lambda: r.client_setname("calls"), r.client_getname)
    show("string", lambda: r.set("s", "a"), lambda: r.get("s"),
         lambda: r.get("none"), lambda: r.set("s", "b", nx=True),
         lambda: r.set("s", "c", get=True), lambda: r.append("s", "de"),
         lambda: r.getrange("s", 1, -1), lambda: r.setrange("s", 1, "XY"),
         lambda: r.strlen("s"), lambda: r.getdel("s"), lambda: r.get("s"))
    show("binary", lambda: r.set(ALL_BYTES, ALL_BYTES),
         lambda: r.get(ALL_BYTES) == ALL_BYTES, lambda: r.delete(ALL_BYTES))
    show("large", lambda: r.set("large", ALL_BYTES * 8192),
         lambda: r.get("large") == ALL_BYTES * 8192)
    show("number", lambda: r.incr("n"), lambda: r.incrby("n", 41),
         lambda: r.decr("n"), lambda: r.incrbyfloat("f", 0.5),
         lambda: r.mset({"m1": "1", "m2": "2"}),
         lambda: r.mget("m1", "none", "m2"))
    show("bits", lambda: r.setbit("bits", 7, 1), lambda: r.getbit("bits", 7),
         lambda: r.bitcount("bits"))
    show("expiry", lambda: r.set("e", "1", ex=100),
         lambda: 90 < r.ttl("e") <= 100, lambda: r.persist("e"),
         lambda: r.ttl("e"), lambda: r.pexpire("e", 50), lambda: gone(r, "e"))
    show("keys", lambda: r.type("n"), lambda: r.exists("n", "none", "f"),
         lambda: r.rename("n", "n2"), lambda: r.copy("n2", "n3"),
         lambda: sorted(r.keys("n*")), lambda: r.delete("n2", "none"),
         lambda: r.rename("none", "x"))


def collections(r):
    show("hash", lambda: r.hset("h", mapping={"a": "1", "b": "2"}),
         lambda: r.hget("h", "a"), lambda: r.hgetall("h"),
         lambda: r.hmget("h", "a", "none"), lambda: r.hincrby("h", "a", 9),
         lambda: r.hdel("h", "b"), lambda: r.hlen("h"),
         lambda: r.hgetall("none"))
    show("list", lambda: r.rpush("l", "a", "b", "c", "b"),
         lambda: r.lrange("l", 0, -1), lambda: r.lpop("l", 2),
         lambda: r.linsert("l", "before", "b", "x"), lambda: r.lrem("l", 1, "b"),
         lambda: r.llen("l"), lambda: r.lpop("none"),
         lambda: r.lmove("l", "l2", "LEFT", "RIGHT"))
    show("set", lambda: r.sadd("t", "a", "b", "c"), lambda: r.smembers("t"),
         lambda: r.sismember("t", "a"), lambda: r.smismember("t", ["a", "z"]),
         lambda: r.sadd("t2", "b", "c", "d"), lambda: r.sinter("t", "t2"),
         lambda: r.srem("t", "a"), lambda: r.scard("t"))
    show("zset", lambda: r.zadd("z", {"a": 1, "b": 2.5, "c": float("inf")}),
         lambda: r.zrange("z", 0, -1), lambda: r.zscore("z", "b"),
         lambda: r.zscore("z", "none"), lambda: r.zincrby("z", 2, "a"),
         lambda: r.zrangebyscore("z", "(2", 3, withscores=True),
         lambda: r.zrank("z", "a"), lambda: r.zrank("z", "none"),
         lambda: r.zpopmin("z", 1), lambda: r.zcard("z"))
    show("sort", lambda: r.rpush("ids", 3, 1, 2),
         lambda: r.mset({"w3": "three", "w1": "one", "w2": "two"}),
         lambda: r.sort("ids"), lambda: r.sort("ids", get="w*", desc=True))


def scans(r):
    names = {f"scan:{i}": str(i) for i in range(300)}
    show("scan", lambda: r.mset(names),
         lambda: set(r.scan_iter("scan:*", count=50)) ==
         {name.encode() for name in names},
         lambda: r.hset("sh", mapping=names),
         lambda: len(dict(r.hscan_iter("sh", count=50))),
         lambda: r.sadd("ss", *names), lambda: len(set(r.sscan_iter("ss"))),
         lambda: r.zadd("sz", {name: 1 for name in names}),
         lambda: len(dict(r.zscan_iter("sz"))))


def pipeline(r):
    pipe = r.pipeline(transaction=False)
    for _ in range(500):
        pipe.incr("p")
    pipe.lpush("p", "x").get("p")
    results = pipe.execute(raise_on_error=False)
    show("pipeline", lambda: sum(results[:500]), lambda: results[500:])


def conflict(r, other):
    with r.pipeline() as pipe:
        pipe.watch("w")
        other.set("w", "changed")
        pipe.multi()
        pipe.set("w", "mine")
        pipe.execute()


def multi(r, other):
    pipe = r.pipeline().set("x", "1").incr("x").lpush("x", "y").get("x")
    show("multi", lambda: pipe.execute(raise_on_error=False),
         lambda: conflict(r, other), lambda: r.get("w"),
         lambda: r.transaction(lambda p: (p.multi(), p.set("w", "2")), "w"))


def scripts(r):
    types = "return {1, 'two', {3, false}, redis.status_reply('fine')}"
    call = r.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    show("script", lambda: r.eval(types, 0), lambda: call(["i"], [5]),
         lambda: call(["i"], [5]), lambda: r.script_exists(call.sha, "0" * 40),
         lambda: r.evalsha("0" * 40, 0),
         lambda: r.eval("return redis.error_reply('MINE it failed')", 0),
         lambda: r.eval("return redis.call('LPUSH', KEYS[1], 1)", 1, "i"),
         lambda: r.eval("nonsense(", 0))


def message(p):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = p.get_message(timeout=1)
        if found:
            return {key: value for key, value in found.items() if value}
    return None


def messages(r):
    p = r.pubsub()
    show("pubsub", lambda: p.subscribe("c1"), lambda: message(p),
         lambda: p.psubscribe("c?"), lambda: message(p),
         lambda: r.publish("c1", b"\0\r\n\xff"), lambda: message(p),
         lambda: message(p), lambda: r.publish("none", "x"),
         lambda: r.pubsub_numsub("c1"), lambda: p.unsubscribe("c1"),
         lambda: message(p), p.ping, lambda: message(p))
    p.close()


def blocking(r, other):
    later(lambda: other.rpush("b1", "late"))
    show("block", lambda: r.blpop(["b0", "b1"], 30),
         lambda: r.brpop("b1", 0.05), lambda: other.rpush("b1", "1", "2"),
         lambda: r.brpop("b1", 1), lambda: r.blmove("b1", "b2", 1))
    later(lambda: other.zadd("bz", {"m": 3}))
    show("block_zset", lambda: r.bzpopmin("bz", 30),
         lambda: r.bzpopmax("bz", 0.05))


def errors(r):
    show("error", lambda: r.lpush("s2", "x"), lambda: r.get("s2"),
         lambda: r.execute_command("NONSENSE", "a"),
         lambda: r.execute_command("GET"), lambda: r.set("s", "1", ex=-1),
         lambda: r.set("s3", "x"), lambda: r.incr("s3"))


def parallel(r):
    def count():
        for _ in range(50):
            r.incr("par")
    threads = [threading.Thread(target=count) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show("parallel", lambda: r.get("par"))


def main():
    where = {"port": int(sys.argv[1]), "protocol": int(sys.argv[2])}
    r, other = redis.Redis(**where), redis.Redis(**where)
    r.flushall()
    strings(r)
    collections(r)
    scans(r)
    pipeline(r)
    multi(r, other)
    scripts(r)
    messages(r)
    blocking(r, other)
    errors(r)
    parallel(r)


if __name__ == "__main__":
    main()
