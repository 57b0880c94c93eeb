-- SPDX-License-Identifier: Apache-2.0
--[[
rank_add - give a member a score, or add to the one that it has.

KEYS[1]  rank (zset): members by score
KEYS[2]  due (zset): those that expire, by deadline, ms
KEYS[3]  order (zset): positions of a timeline of that name
KEYS[4]  barrier (hash): state of a barrier of that name
ARGV[1]  member: its name
ARGV[2]  score: a number
ARGV[3]  ttl: its time to live, ms; 0: it keeps its own, a new one gets none
ARGV[4]  keep_ttl: 1: only a new member gets the time to live; else 0
ARGV[5]  condition: nx: only if it is not there; xx: only if it is; else empty
ARGV[6]  compare: gt, lt: only if its score becomes greater, less, or it is new;
         else empty
ARGV[7]  adds: 1: add to its score, which is 0 if it is new; else 0
ARGV[8]  most: fewer members that are due and not yet removed are looked at for
         its rank; 0: that is not wanted

Returns  {1, rank from the top, members, score}, the two 0 if not wanted; {why}:
         0 refused by nx, -1 by xx, -2 by gt or lt. An error HFHELD: the key is a
         lease that is held or a barrier where parties wait; HFINVALID: the sum
         is infinite; HFLATE: too many are due; WRONGTYPE: the key is a timeline
         or a work queue.
Repeat   no: the second run would add again, and a change of another client in
         between would be lost.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log members + most); up to 16 members
         that are due are removed.
]]
local call = redis.call
--#use timeline_clock
--#use rank_open key=KEYS[1] due=KEYS[2] order=KEYS[3] barrier=KEYS[4]
local name, gone, last, reply = ARGV[1], {}, nil, {1, 0, 0, ARGV[2]}
local old, ends = call('zscore', KEYS[1], name), call('zscore', KEYS[2], name)
local live = old and not (ends and tonumber(ends) <= now_ms)
local score, before = tonumber(ARGV[2]), live and tonumber(old) or 0
if ARGV[5] == 'nx' and live then
    return {0}
elseif ARGV[8] ~= '0' and call('zcount', KEYS[2], '-inf', now_ms) >= tonumber(ARGV[8]) then
    --#use rank_late
elseif ARGV[5] == 'xx' and not live then
    return {-1}
elseif ARGV[7] == '1' then
    score = before + score
end
if live and (ARGV[6] == 'gt' and score <= before or ARGV[6] == 'lt' and score >= before) then
    return {-2}
elseif score - score ~= 0 then
    return redis.error_reply('HFINVALID the score would be infinite')
elseif ARGV[7] == '1' and live then
    reply[4] = call('zincrby', KEYS[1], ARGV[2], name)
else
    call('zadd', KEYS[1], ARGV[2], name)
end
local stays = not (live and ends)
if ARGV[3] ~= '0' and not (live and ARGV[4] == '1') then
    last, stays = now_ms + ARGV[3], false
    call('zadd', KEYS[2], last, name)
elseif not live then
    call('zrem', KEYS[2], name)
end
--#use member_drop remove='zrem' most='16' key=KEYS[1] due=KEYS[2]
if ARGV[8] ~= '0' then
    --#use rank_place member=ARGV[1] most=ARGV[8] key=KEYS[1] due=KEYS[2]
    reply[2], reply[3] = place, call('zcard', KEYS[1]) - #places
end
--#use member_expire count='zcard' find='zmscore' key=KEYS[1] due=KEYS[2]
return reply
