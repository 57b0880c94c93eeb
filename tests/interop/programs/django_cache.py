#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""django_cache.py - django-redis on database 1, as its manual has it.

Usage: django_cache.py PORT

Prints values, counts and orders, a line for each step. Database 0 must stay
empty.
"""

import sys

import django
from django.conf import settings
from redis import Redis

PORT = sys.argv[1]


def backend(**options):
    return {"BACKEND": "django_redis.cache.RedisCache",
            "LOCATION": f"redis://127.0.0.1:{PORT}/1",
            "OPTIONS": {"CLIENT_CLASS": "django_redis.client.DefaultClient",
                        **options}}


settings.configure(
    SECRET_KEY="test", USE_TZ=True, SESSION_CACHE_ALIAS="default",
    SESSION_ENGINE="django.contrib.sessions.backends.cache",
    CACHES={
        "default": backend(),
        "packed": {**backend(
            COMPRESSOR="django_redis.compressors.zlib.ZlibCompressor",
            SERIALIZER="django_redis.serializers.json.JSONSerializer"),
            "KEY_PREFIX": "packed"},
        "plain": {"BACKEND": "django.core.cache.backends.redis.RedisCache",
                  "LOCATION": f"redis://127.0.0.1:{PORT}/2"}})
django.setup()

from django.contrib.sessions.backends.cache import SessionStore
from django.core.cache import caches
from django_redis import get_redis_connection


def say(step, *values):
    print(step, *values, flush=True)


def do_cache(name):
    cache = caches[name]
    cache.set("key", {"a": [1, 2]}, timeout=100)
    say(name, cache.get("key"), cache.get("none", "default"),
        "key" in cache, cache.add("key", 1), cache.add("new", 1))
    cache.set("count", 5)
    say(name, cache.incr("count"), cache.incr("count", 10),
        cache.decr("count", 3))
    try:
        cache.incr("none")
    except ValueError:
        say(name, "no such key")
    say(name, cache.set_many({"a": 1, "b": 2, "c": 3}),
        sorted(cache.get_many(["a", "b", "none"]).items()))
    say(name, cache.touch("a", 50), cache.touch("none", 50),
        cache.delete("a"), cache.delete("a"))
    cache.set("a", "version 2", version=2)
    say(name, cache.get("a"), cache.get("a", version=2),
        cache.incr_version("b"), cache.get("b"), cache.get("b", version=2))
    cache.set("gone", 1, timeout=0)
    say(name, cache.get("gone"), cache.get_or_set("made", lambda: "once", 9),
        cache.get_or_set("made", lambda: "twice", 9))
    cache.delete_many(["b", "c"])
    say(name, cache.get_many(["b", "c"]))


def do_more():
    """What only django-redis has."""
    cache = caches["default"]
    cache.set("key", 1, timeout=100)
    say("ttl", 98 < cache.ttl("key") <= 100, cache.ttl("none"),
        cache.persist("key"), cache.ttl("key"), cache.expire("key", 50),
        45000 < cache.pttl("key") <= 50000)
    say("nx", cache.set("key", 2, nx=True), cache.set("nx", 2, nx=True))
    cache.set_many({f"foo_{i:02}": i for i in range(30)})
    say("keys", len(cache.keys("foo_*")), len(list(cache.iter_keys(
        "foo_*", itersize=7))), cache.delete_pattern("foo_0*"),
        sorted(cache.keys("foo_1*")))
    with cache.lock("lock", timeout=30):
        say("lock", cache.lock("lock").acquire(blocking=False))
    say("lock", cache.lock("lock").acquire(blocking=False))
    say("set", cache.sadd("set", "a", "b", "c"), cache.scard("set"),
        sorted(cache.smembers("set")), cache.sismember("set", "a"),
        cache.srem("set", "a"))
    say("hash", cache.hset("hash", "field", "value"), cache.hlen("hash"),
        cache.hexists("hash", "field"), cache.hkeys("hash"),
        cache.hdel("hash", "field"))
    client = get_redis_connection("default")
    say("client", client.set("direct", "1"), client.get("direct"),
        client.connection_pool.connection_kwargs["db"])


def do_sessions():
    session = SessionStore()
    session["user"] = 42
    session.set_expiry(600)
    session.save()
    other = SessionStore(session.session_key)
    say("session", other["user"], other.get_expiry_age())
    other.cycle_key()
    say("session", SessionStore(other.session_key).get("user"),
        SessionStore(session.session_key).get("user"))
    other.flush()
    say("session", SessionStore(other.session_key).get("user"))


def main():
    for name in ("default", "packed", "plain"):
        do_cache(name)
    do_more()
    do_sessions()
    say("databases", [Redis(port=int(PORT), db=i).dbsize() > 0
                      for i in range(4)])
    caches["plain"].clear()
    caches["default"].clear()
    say("databases", [Redis(port=int(PORT), db=i).dbsize() for i in range(4)])


if __name__ == "__main__":
    main()
