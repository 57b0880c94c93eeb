-- SPDX-License-Identifier: Apache-2.0
--[[
ask_all - tell every waiter of a lease to ask.

topic    key of the lease
waiters  sorted set of entries
]]
while true do
    local heads = call('zpopmin', waiters, 500)
    for i = 1, #heads, 2 do
        redis.pcall('publish', string.match(heads[i], ' (.+)%-%x+$') or '', 'ask\0' .. topic)
    end
    if #heads < 1000 then
        break
    end
end
