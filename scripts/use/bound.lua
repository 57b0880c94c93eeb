-- SPDX-License-Identifier: Apache-2.0
--[[
bound - return {0, current number} unless that is in a range; an error if it is
no integer. Numbers are compared as text: Lua's own are exact only below 2^53.

current  the number; false: there is none, which counts as 0
low      least number of the range
high     greatest number of the range
]]
local number = current or '0'
local function less(a, b)
    local minus = string.sub(a, 1, 1) == '-'
    if minus ~= (string.sub(b, 1, 1) == '-') then
        return minus
    elseif #a ~= #b then
        return #a < #b ~= minus
    end
    return a ~= b and a < b ~= minus
end
if number ~= '0' and not string.find(number, '^%-?[1-9]%d*$')
    or less(number, '-9223372036854775808')
    or less('9223372036854775807', number) then
    return redis.error_reply('WRONGTYPE the number is not a 64-bit integer')
elseif less(number, low) or less(high, number) then
    return {0, number}
end
