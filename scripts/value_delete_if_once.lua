--[[
value_delete_if_once - value_delete_if that leaves its number in a mark, and is
not done again where the mark has that number.

KEYS[1]  the mark of the caller's lane
KEYS[2]  the value
ARGV[1]  expected value
ARGV[2]  number of this call in its lane
ARGV[3]  time to live of the mark, ms

Returns  as value_delete_if; -1: a later call of the lane was done.
Repeat   safe: the second run finds the first one's number and answers 1; or
         the first changed nothing.
Writes   KEYS[1], KEYS[2]. Cost O(1).
]]
local mark = redis.call('get', KEYS[1])
if mark and tonumber(mark) >= tonumber(ARGV[2]) then
    return mark == ARGV[2] and 1 or -1
end
local current = redis.call('get', KEYS[2])
if not current then
    return 0
elseif current ~= ARGV[1] then
    return current
end
redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
return redis.call('del', KEYS[2])
