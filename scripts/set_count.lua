-- SPDX-License-Identifier: Apache-2.0
--[[
set_count - count the members of a set.

KEYS[1]  set (set): members
KEYS[2]  due (zset): those that expire, by deadline, ms

Returns  how many there are; those that are due and not yet removed do not
         count.
Repeat   safe.
Writes   nothing. Cost O(log members + members that are due), as some of these
         may have been removed by SREM.
]]
local call = redis.call
--#use timeline_clock
local count, from = call('scard', KEYS[1]), 0
local left = count > 0 and call('zcount', KEYS[2], '-inf', now_ms) or 0
while left > 0 do
    local late = call('zrange', KEYS[2], from, from + math.min(left, 1000) - 1)
    for _, there in ipairs(call('smismember', KEYS[1], unpack(late))) do
        count = count - there
    end
    from, left = from + 1000, left - 1000
end
return count
