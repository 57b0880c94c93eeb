-- SPDX-License-Identifier: Apache-2.0
--[[
hash_add - add to a field, if its current number is in a range.

KEYS[1]  key (hash): the hash
ARGV[1]  field: the counter, a decimal integer
ARGV[2]  delta: what to add
ARGV[3]  low: least number to add to
ARGV[4]  high: greatest number to add to
ARGV[5]  ttl: time to live of a key that is created, ms; 0: none

Returns  {1, the number before}; or {0, the current number}, which is not in the
         range. An error WRONGTYPE if it is no 64-bit integer.
Repeat   no: the second run would add again.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('hget', KEYS[1], ARGV[1])
--#use bound low=ARGV[3] high=ARGV[4]
local creates = ARGV[5] ~= '0' and redis.call('exists', KEYS[1]) == 0
redis.call('hincrby', KEYS[1], ARGV[1], ARGV[2])
if creates then
    redis.call('pexpire', KEYS[1], ARGV[5])
end
return {1, number}
