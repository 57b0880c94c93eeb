--[[
ask_head - tell the waiter at the head of the queue to ask. Waiters that were
killed no longer listen and are removed, up to 128.

topic    the name
waiters  sorted set of entries
own      entry of the caller, which is not told; empty: none
turn     variable: set to whether none comes before the caller
]]
for _ = 1, 128 do
    local head = call('zrangebyscore', waiters, '-inf', '+inf', 'limit', 0, 1)[1]
    local inbox = head and string.match(head, ' (.+)%-%x+$')
    turn = not head or head == own
    if turn or inbox and redis.pcall('publish', inbox, 'ask\0' .. topic) ~= 0 then
        break
    end
    call('zrem', waiters, head)
end
