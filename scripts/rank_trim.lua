-- SPDX-License-Identifier: Apache-2.0
--[[
rank_trim - remove the members that are due, then those of the lowest ranks.

KEYS[1]  rank (zset): members by score
KEYS[2]  due (zset): those that expire, by deadline, ms
KEYS[3]  order (zset): positions of a timeline of that name
KEYS[4]  barrier (hash): state of a barrier of that name
ARGV[1]  keep: how many of the greatest scores may remain; -1: all

Returns  {members removed, 1 if more remain to be removed, else 0}; members that
         were due are not counted. An error HFHELD: the key is a lease that is
         held or a barrier where parties wait; WRONGTYPE: it is a timeline or a
         work queue.
Repeat   safe: the second run removes what came in between, which the caller
         wants removed too.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log members) for each of up to 2000
         members.
]]
local call = redis.call
--#use timeline_clock
--#use rank_open key=KEYS[1] due=KEYS[2] order=KEYS[3] barrier=KEYS[4]
local gone, stays, last = {}, false, nil
--#use member_drop remove='zrem' most='1000' key=KEYS[1] due=KEYS[2]
local full, over = #gone == 1000, 0
if ARGV[1] ~= '-1' and not full then
    over = math.min(1000, call('zcard', KEYS[1]) - ARGV[1])
end
gone = {}
for _, name in ipairs(over > 0 and call('zrange', KEYS[1], 0, over - 1) or {}) do
    gone[#gone + 1] = name
end
--#use member_drop remove='zrem' most='0' key=KEYS[1] due=KEYS[2]
--#use member_expire count='zcard' find='zmscore' key=KEYS[1] due=KEYS[2]
return {#gone, (full or #gone == 1000) and 1 or 0}
