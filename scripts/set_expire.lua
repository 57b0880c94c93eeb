-- SPDX-License-Identifier: Apache-2.0
--[[
set_expire - set or remove the time to live of members.

KEYS[1]  set (set): members
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1]  ttl: their new time to live, ms; -1: none
ARGV[2...]  members: which

Returns  how many of them are there.
Repeat   no: the second run could undo what another client set in between.
Writes   KEYS[1], KEYS[2]. Cost O(log members) for each; up to 16 members that
         are due are removed.
]]
local call = redis.call
--#use timeline_clock
--#use member_open count='scard' key=KEYS[1] due=KEYS[2]
local names, found, gone, stays, last = {unpack(ARGV, 2)}, 0, {}, false, nil
local there = call('smismember', KEYS[1], unpack(names))
local ends = call('zmscore', KEYS[2], unpack(names))
for i, name in ipairs(names) do
    if there[i] == 1 and not (ends[i] and tonumber(ends[i]) <= now_ms) then
        found = found + 1
        if ARGV[1] == '-1' then
            stays = true
            call('zrem', KEYS[2], name)
        else
            last = now_ms + ARGV[1]
            call('zadd', KEYS[2], last, name)
        end
    end
end
--#use member_drop remove='srem' most='16' key=KEYS[1] due=KEYS[2]
--#use member_expire count='scard' find='smismember' key=KEYS[1] due=KEYS[2]
return found
