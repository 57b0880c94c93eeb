-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_add - add an item, or replace the one with its id.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  items (hash): payloads by id
KEYS[3]  labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
KEYS[5]  order (zset): positions
ARGV[1]  id: of the item
ARGV[2]  payload: bytes
ARGV[3]  at: its time, us; 0: now
ARGV[4]  ttl: its time to live, ms
ARGV[5]  attributes: its labels
ARGV[6]  condition: nx: only if there is no such item; else empty

Returns  1 added or replaced; 0 refused by nx. An error HFHELD: the key is a
         lease that is held; WRONGTYPE: the sorted set is not a timeline.
Repeat   no: nx would refuse the second run, and a change of another client in
         between would be lost.
Writes   KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]. Cost O(log items) for each
         attribute; up to 16 items that are due are removed.
]]
local call = redis.call
--#use timeline_clock
local id, at = ARGV[1], ARGV[3] == '0' and now or tonumber(ARGV[3])
local was, old = call('zscore', KEYS[1], id), call('zscore', KEYS[4], id)
call('hlen', KEYS[3])
--#use timeline_refuse timeline=KEYS[1] order=KEYS[5]
if ARGV[6] == 'nx' and was and old and tonumber(old) > now_ms then
    return 0
elseif not was and call('zcard', KEYS[1]) == 0
    and call('exists', KEYS[2], KEYS[3], KEYS[4], KEYS[5]) > 0 then
    call('del', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
end
call('hset', KEYS[2], id, ARGV[2])
local gone = was and {id} or {}
--#use timeline_drop most=16 timeline=KEYS[1] items=KEYS[2] labels=KEYS[3] due=KEYS[4] order=KEYS[5]
if refused then
    return refused
end
local labels, ends = ARGV[5], now_ms + ARGV[4]
--#use timeline_put payload=ARGV[2] timeline=KEYS[1] items=KEYS[2] marks=KEYS[3] due=KEYS[4] order=KEYS[5]
--#use timeline_expire timeline=KEYS[1] items=KEYS[2] labels=KEYS[3] due=KEYS[4] order=KEYS[5]
return 1
