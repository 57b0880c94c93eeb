-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_unqueue - remove a waiter of a fair lock of Redisson; those behind it
are dead sooner, by the 10 s that it had.

queue     list of owners that wait
timeouts  zset of them by when they count as dead, Unix ms
owner     the waiter
]]
local mine = call('zscore', timeouts, owner)
if mine then
    call('lrem', queue, 1, owner)
    call('zrem', timeouts, owner)
    for _, one in ipairs(call('zrangebyscore', timeouts, '(' .. mine, '+inf')) do
        call('zincrby', timeouts, -10000, one)
    end
end
