-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_remove - remove an item.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  items (hash): payloads by id
KEYS[3]  labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
KEYS[5]  order (zset): positions
ARGV[1]  id: of the item

Returns  1 removed; 0 there is no such item. An error HFHELD: the key is a lease
         that is held; WRONGTYPE: the sorted set is not a timeline.
Repeat   no: the second run would not find it, or remove an item that another
         client added in between.
Writes   KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]. Cost O(log items) for each
         attribute; up to 16 items that are due are removed.
]]
local call = redis.call
--#use timeline_clock
local id = ARGV[1]
local was, ends = call('zscore', KEYS[1], id), call('zscore', KEYS[4], id)
--#use timeline_refuse timeline=KEYS[1] order=KEYS[5]
local gone = was and {id} or {}
--#use timeline_drop most=16 timeline=KEYS[1] items=KEYS[2] labels=KEYS[3] due=KEYS[4] order=KEYS[5]
if refused then
    return refused
end
return was and ends and tonumber(ends) > now_ms and 1 or 0
