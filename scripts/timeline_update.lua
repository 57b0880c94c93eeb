-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_update - change an item.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  items (hash): payloads by id
KEYS[3]  labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
KEYS[5]  order (zset): positions
ARGV[1]  id: of the item
ARGV[2]  has_payload: 1: there is a new payload; else 0
ARGV[3]  payload: the new one
ARGV[4]  at: its new time, us; 0: keep
ARGV[5]  ttl: its new time to live, ms; 0: keep
ARGV[6]  attributes: the new labels
ARGV[7]  replace: 1: drop the other attributes; else 0
ARGV[8]  most: attributes that an item may have

Returns  1 changed; 0 there is no such item. An error HFINVALID if it would have
         too many attributes; HFHELD: the key is a lease that is held;
         WRONGTYPE: the sorted set is not a timeline.
Repeat   no: a change of another client in between would be lost.
Writes   KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]. Cost O(log items) for each
         attribute.
]]
local call = redis.call
--#use timeline_clock
local id, labels = ARGV[1], ARGV[6]
local was, ends = call('zscore', KEYS[1], id), call('zscore', KEYS[4], id)
local payload = ARGV[2] == '1' and ARGV[3] or call('hget', KEYS[2], id)
local old = call('hget', KEYS[3], id) or ''
--#use timeline_refuse timeline=KEYS[1] order=KEYS[5]
if not was or not ends or tonumber(ends) <= now_ms then
    return 0
end
if ARGV[7] == '0' then
    --#use timeline_merge
end
if select(2, string.gsub(labels, '%z%z', '')) > tonumber(ARGV[8]) then
    return redis.error_reply('HFINVALID the item would have more than '
        .. ARGV[8] .. ' attributes')
end
call('hset', KEYS[2], id, payload)
local gone = {id}
--#use timeline_drop most=0 timeline=KEYS[1] items=KEYS[2] labels=KEYS[3] due=KEYS[4] order=KEYS[5]
if refused then
    return refused
end
local at = ARGV[4] == '0' and tonumber(was) or tonumber(ARGV[4])
ends = ARGV[5] == '0' and ends or now_ms + ARGV[5]
--#use timeline_put timeline=KEYS[1] items=KEYS[2] marks=KEYS[3] due=KEYS[4] order=KEYS[5]
--#use timeline_expire timeline=KEYS[1] items=KEYS[2] labels=KEYS[3] due=KEYS[4] order=KEYS[5]
return 1
