#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet_redis_py.py PORT LOCK COUNTER MILLISECONDS - redis-py's member of the
mixed fleet (fleet.py)."""

import sys
import time

import redis

port, name, counter, milliseconds = sys.argv[1:]
client = redis.Redis(port=int(port))
lock = client.lock(name, timeout=30)
client.ping()
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + int(milliseconds) / 1000
held = 0
while time.monotonic() < end:
    if not lock.acquire(blocking_timeout=1):
        continue
    value = int(client.get(counter))
    time.sleep(0.01)
    client.set(counter, value + 1)
    lock.release()
    held += 1
print(held)
