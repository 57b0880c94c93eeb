-- SPDX-License-Identifier: Apache-2.0
--[[
set_count - count the members of a set.

KEYS[1]  set (set): members
KEYS[2]  due (zset): those that expire, by deadline, ms

Returns  how many there are; those that are due and not yet removed do not
         count.
Repeat   safe.
Writes   nothing. Cost O(log members); embedded O(members that are due).
]]
local call = redis.call
--#use timeline_clock
local count = call('scard', KEYS[1])
return math.max(0, count - call('zcount', KEYS[2], '-inf', now_ms))
