-- SPDX-License-Identifier: Apache-2.0
--[[
expect - return if the current value is not the expected one.

current   the value; false: there is none
expects   1: a value is expected; 0: none
expected  that value
]]
if expects == '0' then
    if current then
        return current
    end
elseif not current then
    return 0
elseif current ~= expected then
    return current
end
