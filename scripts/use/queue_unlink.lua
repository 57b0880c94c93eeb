-- SPDX-License-Identifier: Apache-2.0
--[[
queue_unlink - a job that is behind others leaves its group: the one before it and
the one behind it are neighbours.

items  hash of the queue
job    id of the job that leaves
state  its state
]]
local before = call('hget', items, '<' .. job) or ''
local after = call('hget', items, '>' .. job)
call('hdel', items, '<' .. job, '>' .. job, '>' .. before)
if after then
    call('hset', items, '>' .. before, after, '<' .. after, before)
else
    local group = string.match(state, '^%d+ %d+ %d+ %d+ %d+ %d+ (.*)$') or ''
    call('hset', items, '~' .. group, before)
end
