-- SPDX-License-Identifier: Apache-2.0
--[[
queue_next - a job leaves its group: the next of the group is ready, or delayed.

queue  key of the queue
items  its hash
ms     the store's clock
job    id of the job that leaves
state  its state
]]
local group = string.match(state, '^%d+ %d+ %d+ %d+ %d+ %d+ (.*)$') or ''
if group ~= '' then
    local after = call('hget', items, '>' .. job)
    if after then
        local order, since = string.match(call('hget', items, '=' .. after) or '',
            '^(%d+) %d+ %d+ %d+ (%d+) ')
        since = tonumber(since) or 0
        call('zadd', queue, since > ms and 4e15 + since or 7e15 + (order or 0), ':' .. after)
        call('hdel', items, '>' .. job, '<' .. after)
    else
        call('hdel', items, '~' .. group)
    end
end
