-- SPDX-License-Identifier: Apache-2.0
--[[
own_lock - who holds a lock: `owner`, or nil or false if the string is none of
Holdfast. See lock_value.

key   of a string
size  its length
]]
local owner = size >= 32 and size <= 50
    and string.match(call('get', key), '^(%x+%-%x+)[:=]?%d*%+?$')
owner = owner and #owner == 32 and owner
