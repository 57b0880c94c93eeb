-- SPDX-License-Identifier: Apache-2.0
--[[
set_ttl - which members are there, and for how long.

KEYS[1]  set (set): members
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1...]  members: to look for

Returns  for each its time to live, ms; -1: it does not expire; -2: no such
         member.
Repeat   safe.
Writes   nothing. Cost O(1) for each.
]]
local call = redis.call
--#use timeline_clock
local names, reply = {unpack(ARGV, 1)}, {}
local there = call('smismember', KEYS[1], unpack(names))
local ends = call('zmscore', KEYS[2], unpack(names))
for i = 1, #names do
    local left = ends[i] and ends[i] - now_ms or -1
    if there[i] ~= 1 or ends[i] and left <= 0 then
        left = -2
    end
    reply[i] = left
end
return reply
