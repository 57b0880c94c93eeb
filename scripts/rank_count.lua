-- SPDX-License-Identifier: Apache-2.0
--[[
rank_count - count the members whose score is in a range.

KEYS[1]  rank (zset): members by score
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1]  min: least score, or -inf
ARGV[2]  max: greatest score, or +inf
ARGV[3]  most: fewer members that are due and not yet removed are looked at

Returns  how many there are. An error HFLATE: too many are due.
Repeat   safe.
Writes   nothing. Cost O(log members + most).
]]
local call = redis.call
--#use timeline_clock
local count = call('zcount', KEYS[1], ARGV[1], ARGV[2])
local past = call('zrangebyscore', KEYS[2], '-inf', now_ms, 'limit', 0, ARGV[3])
if #past >= tonumber(ARGV[3]) then
    --#use rank_late
end
for _, name in ipairs(past) do
    local score = call('zscore', KEYS[1], name)
    if score and tonumber(score) >= tonumber(ARGV[1]) and tonumber(score) <= tonumber(ARGV[2]) then
        count = count - 1
    end
end
return count
