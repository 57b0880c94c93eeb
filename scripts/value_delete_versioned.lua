-- SPDX-License-Identifier: Apache-2.0
--[[
value_delete_versioned - delete a value only if it has the expected version.

KEYS[1]  key (string): the value
ARGV[1]  expected: the version, SHA-1 of the value in hexadecimal

Returns  1 deleted; 0 there is none; else the current version.
Repeat   no: the second run would answer 0 after the first has deleted it.
Writes   KEYS[1]. Cost O(bytes of the current value).
]]
local current = redis.call('get', KEYS[1])
if not current then
    return 0
end
current = redis.sha1hex(current)
if current ~= ARGV[1] then
    return current
end
--#record
return redis.call('del', KEYS[1])
