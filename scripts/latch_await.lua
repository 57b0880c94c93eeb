-- SPDX-License-Identifier: Apache-2.0
--[[
latch_await - read the count of a latch, and queue the caller while it is not
open, or not set.

KEYS[1]  latch (hash): `left`, and a field for each arrival
KEYS[2]  waiters (zset): inboxes by when they began to wait, us
ARGV[1]  inbox: to wake when it opens; empty: do not queue
ARGV[2]  early: 1: queue also if there is no latch, to wake when it is set. May be
         left out

Returns  {count left, time to live of the latch in ms}. Count 0: open; -1: there
         is no latch.
Repeat   safe: the inbox is queued once.
Writes   KEYS[2]. Cost O(log waiters).
]]
local call = redis.call
--#use latch_left latch=KEYS[1]
if (left > 0 or left < 0 and ARGV[2] == '1') and ARGV[1] ~= '' then
    local now = call('time')
    call('zadd', KEYS[2], now[1] * 1000000 + now[2], ARGV[1])
    call('pexpire', KEYS[2], '360000')
end
return {left, call('pttl', KEYS[1])}
