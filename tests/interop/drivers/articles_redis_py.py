#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""articles_redis_py.py PORT - the fourth article: a cache and a lock with an
expiry, by redis-py."""

import sys
import time

import redis


def main():
    client = redis.Redis(port=int(sys.argv[1]))
    client.flushall()
    print("cache", client.set("page", "html", ex=1), client.get("page"))
    print("lock", client.set("lock", "locking", ex=1, nx=True),
          client.set("lock", "locking", ex=1, nx=True))
    time.sleep(1.1)
    print("after a second", client.get("page"),
          client.set("lock", "locking", ex=5, nx=True),
          client.delete("lock"), client.delete("lock"))


if __name__ == "__main__":
    main()
