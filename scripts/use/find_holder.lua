-- SPDX-License-Identifier: Apache-2.0
--[[
find_holder - of a sorted set: the reader whose lease ends last, or the permit
whose lease ends first. Fails if it is of something else. Sets `owner`, `pttl`,
`sort` (1: readers, 2: permits), and `low` and `high`, the scores of all that
have not ended.

lock    key of the lock
holder  the error reply to GET
]]
--#use clock
local sort, low, high = 1, '-inf', '-' .. clock
local first = call('zrangebyscore', lock, low, high, 'withscores', 'limit', 0, 1)
if not first[1] then
    sort, low, high = 2, '(' .. clock, '+inf'
    first = call('zrangebyscore', lock, low, high, 'withscores', 'limit', 0, 1)
end
local owner = first[1] or false
--#use queue_mark key=lock
if mark or owner and (#owner ~= 32 or not string.find(owner, '^%x+%-%x+$')) then
    return holder
end
local pttl = owner and math.ceil((math.abs(first[2]) - clock) / 1000) or -2
