--[[
value_delete_if - delete a value only if it is the expected one.

KEYS[1]  key: the value
ARGV[1]  expected: value

Returns  1 deleted; 0 there is none; else the present value.
Repeat   no: the second run would answer 0 for the first one's deed.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('get', KEYS[1])
if not current then
    return 0
elseif current ~= ARGV[1] then
    return current
end
--#mark
return redis.call('del', KEYS[1])
