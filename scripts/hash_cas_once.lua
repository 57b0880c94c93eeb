--[[
hash_cas_once - hash_cas that leaves its number in a mark, and is not done
again where the mark has that number.

KEYS[1]  the mark of the caller's lane
KEYS[2]  the hash
ARGV[1]  field
ARGV[2]  1: ARGV[3] is expected; 0: the field must not exist
ARGV[3]  expected value
ARGV[4]  new value
ARGV[5]  new time to live of the key, ms; 0: keep what the key has
ARGV[6]  number of this call in its lane
ARGV[7]  time to live of the mark, ms

Returns  as hash_cas; -1: a later call of the lane was done.
Repeat   safe: the second run finds the first one's number and answers 1; or
         the first changed nothing.
Writes   KEYS[1], KEYS[2]. Cost O(1).
]]
local mark = redis.call('get', KEYS[1])
if mark and tonumber(mark) >= tonumber(ARGV[6]) then
    return mark == ARGV[6] and 1 or -1
end
local current = redis.call('hget', KEYS[2], ARGV[1])
if ARGV[2] == '0' then
    if current then
        return current
    end
elseif not current then
    return 0
elseif current ~= ARGV[3] then
    return current
end
redis.call('hset', KEYS[2], ARGV[1], ARGV[4])
if ARGV[5] ~= '0' then
    redis.call('pexpire', KEYS[2], ARGV[5])
end
redis.call('set', KEYS[1], ARGV[6], 'px', ARGV[7])
return 1
