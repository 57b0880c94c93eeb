--[[
once - return if the mark has the number of this call, which was done before, or
of a later one.

key      the mark
number   number of this call in its lane
]]
local mark = redis.call('get', key)
if mark and tonumber(mark) >= tonumber(number) then
    return mark == number and 1 or -1
end
