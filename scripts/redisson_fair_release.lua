-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_fair_release - release a fair lock of Redisson, or stop waiting for it,
and wake the next waiter.

KEYS[1]  lock (hash): hold count by owner
KEYS[2]  timeouts (zset): waiters by when they count as dead, Unix ms
KEYS[3]  queue (list): waiters, the next one first
ARGV[1]  owner: owner id
ARGV[2]  publish: publish or spublish, a blank, and the channel of the lock

Returns  1 released; 0 the lock is free; -1 another owner holds it.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: acquires may be waiting for it.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(waiters).
]]
local call = redis.call
local held = call('hdel', KEYS[1], ARGV[1]) == 1
local head, heard
local now_ms = call('time')
now_ms = math.floor(now_ms[1] * 1000 + now_ms[2] / 1000)
--#use redisson_unqueue timeouts=KEYS[2] queue=KEYS[3] owner=ARGV[1]
if call('exists', KEYS[1]) == 1 then
    return -1
end
--#use redisson_head timeouts=KEYS[2] queue=KEYS[3]
if head then
    local verb, channel = string.match(ARGV[2], '^(%l+) (.*)$')
    channel = channel .. ':' .. head
    --#use redisson_publish message='0'
end
return held and 1 or 0
