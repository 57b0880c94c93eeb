-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_count - count the items.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  due (zset): ids by deadline, ms

Returns  how many there are; those that are due and not yet removed do not
         count.
Repeat   safe.
Writes   nothing. Cost O(log items); embedded O(items that are due).
]]
local call = redis.call
--#use timeline_clock
if call('zcard', KEYS[1]) == 0 then
    return 0
end
return call('zcard', KEYS[2]) - call('zcount', KEYS[2], '-inf', now_ms)
