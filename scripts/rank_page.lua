-- SPDX-License-Identifier: Apache-2.0
--[[
rank_page - read members in the order of their scores.

KEYS[1]  rank (zset): members by score
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1]  backward: 1: greatest score first; else 0
ARGV[2]  offset: members to skip
ARGV[3]  limit: most members
ARGV[4]  around: 1: the member and up to limit on each side of it; else 0
ARGV[5]  member: its name
ARGV[6]  most: fewer members that are due and not yet removed are looked at

Returns  {members to the first one; member, time to live, ms (-1: it does not
         expire), score of each}; 0: no such member. An error HFLATE: too many
         are due.
Repeat   safe.
Writes   nothing. Cost O(log members + limit + most).
]]
local call = redis.call
--#use timeline_clock
--#use rank_due most=ARGV[6] key=KEYS[1] due=KEYS[2]
local last, first, left = call('zcard', KEYS[1]) - 1, tonumber(ARGV[2]), tonumber(ARGV[3])
local turned, skip, found = {}, 0, nil
for i, at in ipairs(places) do
    turned[i] = ARGV[1] == '1' and at or last - at
end
if ARGV[4] == '1' then
    --#use rank_around member=ARGV[5] down=ARGV[1] key=KEYS[1] due=KEYS[2]
end
for _, other in ipairs(turned) do
    skip = other < first and skip + 1 or skip
end
last = first + left + #turned - 1
if ARGV[1] == '1' then
    found = call('zrevrange', KEYS[1], first, last, 'withscores')
else
    found = call('zrange', KEYS[1], first, last, 'withscores')
end
local reply = {first}
for i = 1, #found, 2 do
    local ends = call('zscore', KEYS[2], found[i])
    local live = not ends or tonumber(ends) > now_ms
    if live and skip > 0 then
        skip = skip - 1
    elseif live and left > 0 then
        left = left - 1
        reply[#reply + 1] = found[i]
        reply[#reply + 1] = ends and ends - now_ms or -1
        reply[#reply + 1] = found[i + 1]
    end
end
return reply
