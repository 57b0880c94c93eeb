--[[
clock - read the store's clock: `clock`, us, in 16 digits.
]]
local clock = call('time')
clock = clock[1] .. string.sub('00000' .. clock[2], -6)
