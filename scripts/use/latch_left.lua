-- SPDX-License-Identifier: Apache-2.0
--[[
latch_left - the count of a latch, as `left`; -1: there is none. An error
WRONGTYPE if the key is another hash.

latch    the latch
]]
local left = call('hget', latch, 'left')
if left and not string.find(left, '^%d+$')
    or not left and call('exists', latch) == 1 then
    return redis.error_reply('WRONGTYPE it is not a latch')
end
left = tonumber(left or -1)
