-- SPDX-License-Identifier: Apache-2.0
--[[
once - return if the dedup record has the number of this call, which was done
before, or of a later one.

key      the dedup record
number   number of this call in its session
]]
local last = redis.call('get', key)
if last and tonumber(last) >= tonumber(number) then
    return last == number and 1 or -1
end
