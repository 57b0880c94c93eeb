#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""channels_groups.py - channels_redis: its two layers, groups and capacity.

Usage: channels_groups.py PORT

Prints messages and counts, a line for each step.
"""

import asyncio
import sys

from channels.exceptions import ChannelFull
from channels_redis.core import RedisChannelLayer
from channels_redis.pubsub import RedisPubSubChannelLayer

HOSTS = [f"redis://127.0.0.1:{sys.argv[1]}/4"]


def say(step, *values):
    print(step, *values, flush=True)


async def nothing(layer, channel):
    try:
        return await asyncio.wait_for(layer.receive(channel), 0.3)
    except asyncio.TimeoutError:
        return None


async def do_layer(name, layer):
    here, there = [await layer.new_channel() for _ in range(2)]
    waiter = asyncio.ensure_future(layer.receive(here))
    await asyncio.sleep(0.1)
    await layer.send(here, {"type": "hello", "n": 1})
    say(name, await waiter)
    await layer.group_add("group", here)
    await layer.group_add("group", there)
    await layer.group_send("group", {"type": "all"})
    say(name, await layer.receive(here), await layer.receive(there))
    for i in range(5):
        await layer.send(there, {"type": "order", "n": i})
    say(name, [(await layer.receive(there))["n"] for _ in range(5)])
    await layer.group_discard("group", there)
    await layer.group_send("group", {"type": "fewer"})
    say(name, await layer.receive(here), await nothing(layer, there))


async def do_capacity():
    layer = RedisChannelLayer(hosts=HOSTS, capacity=3, expiry=1)
    for i in range(5):
        try:
            await layer.send("full", {"n": i})
            say("capacity", "sent")
        except ChannelFull:
            say("capacity", "full")
    say("capacity", await layer.receive("full"))
    await asyncio.sleep(1.1)
    say("capacity", await nothing(layer, "full"))
    await layer.flush()
    await layer.close_pools()


async def main():
    layer = RedisChannelLayer(hosts=HOSTS)
    await do_layer("core", layer)
    await layer.flush()
    await layer.close_pools()
    layer = RedisPubSubChannelLayer(hosts=HOSTS)
    await do_layer("pubsub", layer)
    await layer.flush()
    await do_capacity()


if __name__ == "__main__":
    asyncio.run(main())
