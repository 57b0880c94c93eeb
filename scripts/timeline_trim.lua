-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_trim - remove the oldest items.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  items (hash): payloads by id
KEYS[3]  labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
KEYS[5]  order (zset): positions
ARGV[1]  finish: end of the range of positions to remove, as in ZRANGEBYLEX;
         empty: none
ARGV[2]  keep: how many of the newest items may remain; -1: all

Returns  {items removed, 1 if more remain to be removed, else 0}; items that
         were due are not counted. An error HFHELD: the key is a lease that is
         held; WRONGTYPE: the sorted set is not a timeline.
Repeat   safe: the second run removes what came in between, which the caller
         wants removed too.
Writes   KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]. Cost O(log items) for each
         of up to 2000 items.
]]
local call = redis.call
--#use timeline_clock
local gone = {}
call('zcard', KEYS[1])
--#use timeline_refuse timeline=KEYS[1] order=KEYS[5]
--#use timeline_drop most=1000 timeline=KEYS[1] items=KEYS[2] labels=KEYS[3] due=KEYS[4] order=KEYS[5]
if refused then
    return refused
elseif #gone == 1000 then
    return {0, 1}
end
local count, found = call('zcard', KEYS[1]), {}
if count > 0 and ARGV[1] ~= '' then
    found = call('zrangebylex', KEYS[5], '[\0\0', ARGV[1], 'limit', 0, 1000)
end
local over = ARGV[2] == '-1' and 0 or math.min(1000, count - ARGV[2])
if over > #found then
    found = call('zrangebylex', KEYS[5], '[\0\0', '(\0\1', 'limit', 0, over)
end
gone = {}
for i, place in ipairs(found) do
    gone[i] = string.sub(place, 19)
end
--#use timeline_drop most=0 timeline=KEYS[1] items=KEYS[2] labels=KEYS[3] due=KEYS[4] order=KEYS[5]
return refused or {#gone, #gone == 1000 and 1 or 0}
