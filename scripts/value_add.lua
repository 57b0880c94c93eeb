-- SPDX-License-Identifier: Apache-2.0
--[[
value_add - add to a counter, if its current number is in a range.

KEYS[1]  key (string): the counter, a decimal integer
ARGV[1]  delta: what to add
ARGV[2]  low: least number to add to
ARGV[3]  high: greatest number to add to
ARGV[4]  ttl: time to live of a counter that is created, ms; 0: none

Returns  {1, the number before}; or {0, the current number}, which is not in the
         range. An error WRONGTYPE if it is no 64-bit integer.
Repeat   no: the second run would add again.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('get', KEYS[1])
--#use bound low=ARGV[2] high=ARGV[3]
if current or ARGV[4] == '0' then
    redis.call('incrby', KEYS[1], ARGV[1])
else
    redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[4])
end
return {1, number}
