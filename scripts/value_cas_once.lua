--[[
value_cas_once - value_cas that leaves its number in a mark, and is not done
again where the mark has that number.

KEYS[1]  the mark of the caller's lane
KEYS[2]  the value
ARGV[1]  1: ARGV[2] is expected; 0: the key must not exist
ARGV[2]  expected value
ARGV[3]  new value
ARGV[4]  new time to live, ms; 0: keep what the key has
ARGV[5]  number of this call in its lane
ARGV[6]  time to live of the mark, ms

Returns  as value_cas; -1: a later call of the lane was done.
Repeat   safe: the second run finds the first one's number and answers 1; or
         the first changed nothing.
Writes   KEYS[1], KEYS[2]. Cost O(1).
]]
local mark = redis.call('get', KEYS[1])
if mark and tonumber(mark) >= tonumber(ARGV[5]) then
    return mark == ARGV[5] and 1 or -1
end
local current = redis.call('get', KEYS[2])
if ARGV[1] == '0' then
    if current then
        return current
    end
elseif not current then
    return 0
elseif current ~= ARGV[2] then
    return current
end
if ARGV[4] == '0' then
    redis.call('set', KEYS[2], ARGV[3], 'keepttl')
else
    redis.call('set', KEYS[2], ARGV[3], 'px', ARGV[4])
end
redis.call('set', KEYS[1], ARGV[5], 'px', ARGV[6])
return 1
