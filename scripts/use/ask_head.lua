-- SPDX-License-Identifier: Apache-2.0
--[[
ask_head - tell the waiter at the head of the queue to ask. Waiters that were
killed no longer listen and are removed, up to 128.

topic    the name
waiters  sorted set of entries
own      entry of the caller, which is not told; empty: none
since    score of that entry: a number
pop      true: remove the head too, so that it holds up the caller only once if
         its process is stopped; when it asks, `since` still makes it the first,
         unless those behind it have asked before. So only a caller that has
         waited for long enough for the head to ask sets this
turn     variable: set to whether none comes before the caller
]]
for _ = 1, 128 do
    local head = call('zrangebyscore', waiters, '-inf', '+inf', 'withscores', 'limit', 0, 1)
    local inbox = head[1] and string.match(head[1], ' (.+)%-%x+$')
    turn = not head[1] or head[1] == own or tonumber(head[2]) > since
    if turn then
        break
    end
    local woken = inbox and redis.pcall('publish', inbox, 'ask\0' .. topic) ~= 0
    if pop or not woken then
        call('zrem', waiters, head[1])
    end
    if woken then
        break
    end
end
