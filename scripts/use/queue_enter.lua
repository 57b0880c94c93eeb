-- SPDX-License-Identifier: Apache-2.0
--[[
queue_enter - a job is ready, delayed, or behind the others of its group.

queue  key of the queue
items  its hash
ms     the store's clock
job    id of the job
group  its group; empty: none
order  its place among those that are ready
due    when it is ready, ms; 0: now
]]
local score = tonumber(due) > ms and 4e15 + due or 7e15 + order
if group ~= '' then
    local last = call('hget', items, '~' .. group)
    if last then
        score = 8e15 + order
        call('hset', items, '>' .. last, job, '<' .. job, last)
    end
    call('hset', items, '~' .. group, job)
end
call('zadd', queue, score, ':' .. job)
