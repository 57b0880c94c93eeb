-- SPDX-License-Identifier: Apache-2.0
--[[
value_cas - replace a value only if it equals the expected one.

KEYS[1]  key (string): the value
ARGV[1]  expects: 1: a value; 0: the key must not exist
ARGV[2]  expected: the value
ARGV[3]  value: the new one
ARGV[4]  ttl: new time to live, ms; 0: keep the current one

Returns  1 replaced; 0 a value was expected, but there is none; else the
         current value.
Repeat   no: the second run would take the value of the first for one written
         by another client.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('get', KEYS[1])
--#use expect expects=ARGV[1] expected=ARGV[2]
if ARGV[4] == '0' then
    redis.call('set', KEYS[1], ARGV[3], 'keepttl')
else
    redis.call('set', KEYS[1], ARGV[3], 'px', ARGV[4])
end
--#record
return 1
