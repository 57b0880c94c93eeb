-- SPDX-License-Identifier: Apache-2.0
--[[
queue_end - a job is done: it is gone, though its id may be remembered. The caller
has removed the holder from the queue.

queue   key of the queue
items   its hash
ms      the store's clock
holder  who had taken it
job     id of the job
]]
local state = call('hget', items, '=' .. job) or ''
local till = tonumber(string.match(state, '^%d+ %d+ %d+ %d+ %d+ (%d+) ')) or 0
if till > ms then
    call('zadd', queue, 5e15 + till, ':' .. job)
end
call('hdel', items, holder, ':' .. job)
if till <= ms then
    call('hdel', items, '=' .. job)
end
--#use queue_next
