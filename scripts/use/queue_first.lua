-- SPDX-License-Identifier: Apache-2.0
--[[
queue_first - find the job that an owner has, or else the first that is ready, and
what is known about it: `job`, `order`, ... as in its state. Those whose state is
lost are removed, up to 128, and so are those with an id or a group that no put
writes, which would stay in front of all others. Without a job `order` is nil.

queue   key of the queue
items   its hash
holder  the owner
held    what it has, by the hash
head    the first that is ready, or nil
paused  true: none is
]]
local job, order, tries, most, put, rest, group
for _ = 1, 128 do
    job = string.sub(held or head or '', 2)
    order, tries, most, put, rest, group = string.match(
        call('hget', items, '=' .. job) or '', '^(%d+) (%d+) (%d+) (%d+) (%d+ %d+) (.*)$')
    if order and job ~= '' and #job <= 512 and #group <= 512 or not (held or head) then
        break
    end
    order = nil
    call('zrem', queue, holder, ':' .. job)
    call('hdel', items, holder, '=' .. job, ':' .. job)
    held = nil
    head = not paused and call('zrangebyscore', queue, '7e15', '(8e15', 'limit', 0, 1)[1] or nil
end
