-- SPDX-License-Identifier: Apache-2.0
--[[
set_remove - remove members of a set.

KEYS[1]  set (set): members
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1...]  members: to remove

Returns  how many were there; those that were due do not count.
Repeat   no: the second run would not find them, or remove members that another
         client added in between.
Writes   KEYS[1], KEYS[2]. Cost O(log members) for each; up to 16 members that
         are due are removed.
]]
local call = redis.call
--#use timeline_clock
--#use member_open count='scard' key=KEYS[1] due=KEYS[2]
local names = {unpack(ARGV, 1)}
--#use member_remove remove='srem' count='scard' find='smismember' key=KEYS[1] due=KEYS[2]
return found
