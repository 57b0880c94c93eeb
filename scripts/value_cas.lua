--[[
value_cas - replace a value only if it is the expected one.

KEYS[1]  key: the value
ARGV[1]  expects: 1: `expected`; 0: the key must not exist
ARGV[2]  expected: value
ARGV[3]  value: the new one
ARGV[4]  ttl: new time to live, ms; 0: keep what the key has

Returns  1 replaced; 0 a value was expected and there is none; else the
         present value.
Repeat   no: the second run would take the first one's value for another's.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('get', KEYS[1])
--#use expect expects=ARGV[1] expected=ARGV[2]
if ARGV[4] == '0' then
    redis.call('set', KEYS[1], ARGV[3], 'keepttl')
else
    redis.call('set', KEYS[1], ARGV[3], 'px', ARGV[4])
end
--#mark
return 1
