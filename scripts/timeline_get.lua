-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_get - read an item.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  items (hash): payloads by id
KEYS[3]  labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
ARGV[1]  id: of the item

Returns  {'', 0, id, time, us, time to live, ms, payload, attributes}; {'', 0}
         if there is no such item.
Repeat   safe.
Writes   nothing. Cost O(1).
]]
local call = redis.call
--#use timeline_clock
local id = ARGV[1]
local at, ends = call('zscore', KEYS[1], id), call('zscore', KEYS[4], id)
if not at or not ends or tonumber(ends) <= now_ms then
    return {'', 0}
end
local payload = call('hget', KEYS[2], id)
if not payload then
    return {'', 0}
end
return {'', 0, id, tonumber(at), ends - now_ms, payload, call('hget', KEYS[3], id) or ''}
