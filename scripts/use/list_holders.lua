-- SPDX-License-Identifier: Apache-2.0
--[[
list_holders - who reads a lock or holds permits of a semaphore, as `list`: owner,
remaining ms, permits, and an empty text in place of a token, of each. See
find_holder.

lock    key of the lock
holder  the error reply to GET
limit   how many at most
]]
--#use find_holder
local found = call('zrangebyscore', lock, low, high, 'withscores', 'limit', 0, limit)
local list = {}
for i = 1, #found, 2 do
    local ends = math.abs(found[i + 1])
    local weight = ends % 1 ~= 0 and call('zscore', lock, '#' .. found[i])
    list[#list + 1] = found[i]
    list[#list + 1] = math.ceil((ends - clock) / 1000)
    list[#list + 1] = tonumber(weight or 1)
    list[#list + 1] = ''
end
