-- SPDX-License-Identifier: Apache-2.0
--[[
hash_cas - replace a field of a hash only if it has the expected value.

KEYS[1]  key (hash): the hash
ARGV[1]  field: its name
ARGV[2]  expects: 1: a value; 0: the field must not exist
ARGV[3]  expected: value of the field
ARGV[4]  value: the new one
ARGV[5]  ttl: new time to live of the key, ms; 0: keep the current one

Returns  1 replaced; 0 a value was expected, but there is none; else the
         current value.
Repeat   no: the second run would take the value of the first for one written
         by another client.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('hget', KEYS[1], ARGV[1])
--#use expect expects=ARGV[2] expected=ARGV[3]
redis.call('hset', KEYS[1], ARGV[1], ARGV[4])
if ARGV[5] ~= '0' then
    redis.call('pexpire', KEYS[1], ARGV[5])
end
--#record
return 1
