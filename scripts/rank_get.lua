-- SPDX-License-Identifier: Apache-2.0
--[[
rank_get - read a member: its rank, score and time to live.

KEYS[1]  rank (zset): members by score
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1]  member: its name
ARGV[2]  most: fewer members that are due and not yet removed are looked at

Returns  {rank from the top, members, time to live, ms (-1: it does not expire),
         score}; 0: no such member. An error HFLATE: too many are due.
Repeat   safe.
Writes   nothing. Cost O(log members + most).
]]
local call = redis.call
--#use timeline_clock
local score, ends = call('zscore', KEYS[1], ARGV[1]), call('zscore', KEYS[2], ARGV[1])
if not score or ends and tonumber(ends) <= now_ms then
    return 0
end
--#use rank_place member=ARGV[1] most=ARGV[2] key=KEYS[1] due=KEYS[2]
return {place, call('zcard', KEYS[1]) - #places, ends and ends - now_ms or -1, score}
