--[[
wake - send the name of what was freed to the waiter that has waited longest.
One that was killed no longer listens: up to 128 are tried.

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
