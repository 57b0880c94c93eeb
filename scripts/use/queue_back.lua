-- SPDX-License-Identifier: Apache-2.0
--[[
queue_back - a job is not taken any more: it is ready in its old place, delayed,
or a dead letter, if it is `dead` or was taken as often as it may be. The caller
has removed the holder from the queue. Of a job whose state is lost nothing stays.

queue   key of the queue
items   its hash
ms      the store's clock
holder  who had taken it
job     id of the job
due     when it is ready, ms; 0: now
dead    true: it is a dead letter
]]
local state = call('hget', items, '=' .. job) or ''
local order, tries, most = string.match(state, '^(%d+) (%d+) (%d+) ')
if order and (dead or most ~= '0' and tonumber(tries or 0) >= tonumber(most or 0)) then
    call('zadd', queue, 6e15 + ms, ':' .. job)
    --#use queue_next
elseif order then
    call('zadd', queue, due > ms and 4e15 + due or 7e15 + order, ':' .. job)
end
call('hdel', items, holder)
