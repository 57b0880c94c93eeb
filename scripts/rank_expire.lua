-- SPDX-License-Identifier: Apache-2.0
--[[
rank_expire - set or remove the time to live of a member.

KEYS[1]  rank (zset): members by score
KEYS[2]  due (zset): those that expire, by deadline, ms
KEYS[3]  order (zset): positions of a timeline of that name
KEYS[4]  barrier (hash): state of a barrier of that name
ARGV[1]  member: its name
ARGV[2]  ttl: its new time to live, ms; -1: none

Returns  1 set; 0 there is no such member. An error HFHELD: the key is a lease
         that is held or a barrier where parties wait; WRONGTYPE: it is a
         timeline or a work queue.
Repeat   no: the second run could undo what another client set in between.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log members); up to 16 members that
         are due are removed.
]]
local call = redis.call
--#use timeline_clock
--#use rank_open key=KEYS[1] due=KEYS[2] order=KEYS[3] barrier=KEYS[4]
local name, gone, last, stays = ARGV[1], {}, nil, ARGV[2] == '-1'
local score, ends = call('zscore', KEYS[1], name), call('zscore', KEYS[2], name)
if not score or ends and tonumber(ends) <= now_ms then
    return 0
elseif stays then
    call('zrem', KEYS[2], name)
else
    last = now_ms + ARGV[2]
    call('zadd', KEYS[2], last, name)
end
--#use member_drop remove='zrem' most='16' key=KEYS[1] due=KEYS[2]
--#use member_expire count='zcard' find='zmscore' key=KEYS[1] due=KEYS[2]
return 1
