--[[
expect - answer now if what was found is not what the caller expects.

current   what was found
expects   1: `expected`; 0: nothing
expected  the value
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
