--[[
value_cas_once - value_cas that leaves a mark that it was done, and is not done
again where the mark is.

KEYS[1]  the value
KEYS[2]  the mark of this call
ARGV[1]  1: ARGV[2] is expected; 0: the key must not exist
ARGV[2]  expected value
ARGV[3]  new value
ARGV[4]  new time to live, ms; 0: keep what the key has
ARGV[5]  time to live of the mark, ms

Returns  as value_cas.
Repeat   safe: the second run finds the first one's mark and answers 1; or the
         first changed nothing.
Writes   KEYS[1], KEYS[2]. Cost O(1).
]]
if redis.call('exists', KEYS[2]) == 1 then
    return 1
end
local current = redis.call('get', KEYS[1])
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
    redis.call('set', KEYS[1], ARGV[3], 'keepttl')
else
    redis.call('set', KEYS[1], ARGV[3], 'px', ARGV[4])
end
redis.call('set', KEYS[2], '', 'px', ARGV[5])
return 1
