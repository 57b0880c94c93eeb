-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_head - find the first waiter of a fair lock of Redisson that is not
dead, and remove those before it.

queue     list of owners that wait
timeouts  zset of them by when they count as dead, Unix ms
now_ms    the store's clock
head      variable: afterwards the owner, or false
]]
head = call('lindex', queue, 0)
while head and tonumber(call('zscore', timeouts, head) or 0) <= now_ms do
    call('lpop', queue)
    call('zrem', timeouts, head)
    head = call('lindex', queue, 0)
end
