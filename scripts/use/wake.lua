--[[
wake - send the name of what was freed to the waiter that has waited longest.
Up to 128 are tried, as one that was killed no longer listens.

topic    the name
waiters  sorted set of inboxes
]]
for _ = 1, 128 do
    local head = call('zpopmin', waiters)[1]
    local woken = head and redis.pcall('publish', head, topic)
    if woken ~= 0 then
        break
    end
end
