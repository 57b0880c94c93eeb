--[[
fence - return the highest fencing token seen, if the given one is lower. What
is no integer in 1..2^53-1 counts as lost.

fence  key of the highest token
token  the given one
]]
local highest = redis.pcall('get', fence)
highest = type(highest) ~= 'table' and tonumber(highest)
if highest and highest > tonumber(token) and highest < 2^53
    and highest % 1 == 0 then
    return highest
end
