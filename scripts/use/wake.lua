-- SPDX-License-Identifier: Apache-2.0
--[[
wake - send the name of what was freed to the waiter that has waited longest,
which then asks for it. Up to 128 are tried, as one that was killed no longer
listens.

topic    the name
waiters  sorted set of entries
]]
for _ = 1, 128 do
    local head = call('zpopmin', waiters)[1]
    local inbox = head and string.match(head, ' (.+)%-%x+$') or head
    local woken = inbox and redis.pcall('publish', inbox, 'ask\0' .. topic)
    if woken ~= 0 then
        break
    end
end
