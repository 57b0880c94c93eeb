-- SPDX-License-Identifier: Apache-2.0
--[[
wake_all - send a name to every waiter, which then finds what it waits for.

topic    the name
waiters  sorted set of inboxes
]]
while true do
    local heads = call('zpopmin', waiters, 500)
    for i = 1, #heads, 2 do
        redis.pcall('publish', heads[i], 'ask\0' .. topic)
    end
    if #heads < 1000 then
        break
    end
end
