--[[
lock_owner - who holds a lock: `owner`, or nil or false if the string is none.

key   of a string
size  its length
]]
local owner = (size == 32 or size == 33 or size == 49)
    and string.match(call('get', key), '^(%x+%-%x+)%+?%d*$')
owner = owner and #owner == 32 and owner
