-- SPDX-License-Identifier: Apache-2.0
--[[
rank_remove - remove members of a rank.

KEYS[1]  rank (zset): members by score
KEYS[2]  due (zset): those that expire, by deadline, ms
KEYS[3]  order (zset): positions of a timeline of that name
KEYS[4]  barrier (hash): state of a barrier of that name
ARGV[1...]  members: to remove

Returns  how many were there; those that were due do not count. An error HFHELD:
         the key is a lease that is held or a barrier where parties wait;
         WRONGTYPE: it is a timeline or a work queue.
Repeat   no: the second run would not find them, or remove members that another
         client added in between.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log members) for each; up to 16
         members that are due are removed.
]]
local call = redis.call
--#use timeline_clock
--#use rank_open key=KEYS[1] due=KEYS[2] order=KEYS[3] barrier=KEYS[4]
local names = {unpack(ARGV, 1)}
--#use member_remove remove='zrem' count='zcard' find='zmscore' key=KEYS[1] due=KEYS[2]
return found
