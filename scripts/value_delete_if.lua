-- SPDX-License-Identifier: Apache-2.0
--[[
value_delete_if - delete a value only if it equals the expected one.

KEYS[1]  key (string): the value
ARGV[1]  expected: the value

Returns  1 deleted; 0 there is none; else the current value.
Repeat   no: the second run would answer 0 after the first has deleted it.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('get', KEYS[1])
if not current then
    return 0
elseif current ~= ARGV[1] then
    return current
end
--#record
return redis.call('del', KEYS[1])
