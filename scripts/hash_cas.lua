--[[
hash_cas - replace a field of a hash only if it is the expected one.

KEYS[1]  the hash
ARGV[1]  field
ARGV[2]  1: ARGV[3] is expected; 0: the field must not exist
ARGV[3]  expected value
ARGV[4]  new value
ARGV[5]  new time to live of the key, ms; 0: keep what the key has

Returns  1 replaced; 0 a value was expected and there is none; else the
         present value.
Repeat   no: the second run would take the first one's value for another's.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('hget', KEYS[1], ARGV[1])
--#use expect expects=ARGV[2] expected=ARGV[3]
redis.call('hset', KEYS[1], ARGV[1], ARGV[4])
if ARGV[5] ~= '0' then
    redis.call('pexpire', KEYS[1], ARGV[5])
end
--#mark
return 1
