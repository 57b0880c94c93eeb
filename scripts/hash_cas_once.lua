--[[
hash_cas_once - hash_cas that leaves a mark that it was done, and is not done
again where the mark is.

KEYS[1]  the hash
KEYS[2]  the mark of this call
ARGV[1]  field
ARGV[2]  1: ARGV[3] is expected; 0: the field must not exist
ARGV[3]  expected value
ARGV[4]  new value
ARGV[5]  new time to live of the key, ms; 0: keep what the key has
ARGV[6]  time to live of the mark, ms

Returns  as hash_cas.
Repeat   safe: the second run finds the first one's mark and answers 1; or the
         first changed nothing.
Writes   KEYS[1], KEYS[2]. Cost O(1).
]]
if redis.call('exists', KEYS[2]) == 1 then
    return 1
end
local current = redis.call('hget', KEYS[1], ARGV[1])
if ARGV[2] == '0' then
    if current then
        return current
    end
elseif not current then
    return 0
elseif current ~= ARGV[3] then
    return current
end
redis.call('hset', KEYS[1], ARGV[1], ARGV[4])
if ARGV[5] ~= '0' then
    redis.call('pexpire', KEYS[1], ARGV[5])
end
redis.call('set', KEYS[2], '', 'px', ARGV[6])
return 1
