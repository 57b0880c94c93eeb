-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_delete - remove a timeline with all its items.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  items (hash): payloads by id
KEYS[3]  labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
KEYS[5]  order (zset): positions

Returns  1 removed; 0 there is no such timeline. An error HFHELD: it is a lease
         that is held; WRONGTYPE: the sorted set is not a timeline.
Repeat   no: the second run would find none.
Writes   all keys. Cost O(items).
]]
local call = redis.call
call('zcard', KEYS[1])
--#use timeline_refuse timeline=KEYS[1] order=KEYS[5]
local found = call('del', KEYS[1])
call('del', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
return found
