-- SPDX-License-Identifier: Apache-2.0
--[[
queue_due - move what an instant has passed of, 128 of each sort at most: jobs
whose leases have ended go back, those that were delayed are ready, and ids that
were remembered are forgotten. Its first write is never refused.

queue  key of the queue
items  its hash
clock  the store's clock, us, in 16 digits
ms     the same, ms
]]
for _, holder in ipairs(call('zrangebyscore', queue, '1', clock, 'limit', 0, 128)) do
    local job = string.sub(call('hget', items, holder) or '', 2)
    call('zrem', queue, holder)
    --#use queue_back holder=holder due=0 dead=false
end
for _, member in ipairs(call('zrangebyscore', queue, '4e15',
        string.format('%.0f', 4e15 + ms), 'limit', 0, 128)) do
    local state = call('hget', items, '=' .. string.sub(member, 2)) or ''
    call('zrem', queue, member)
    call('zadd', queue, 7e15 + (string.match(state, '^%d+') or 0), member)
end
for _, member in ipairs(call('zrangebyscore', queue, '5e15',
        string.format('%.0f', 5e15 + ms), 'limit', 0, 128)) do
    call('zrem', queue, member)
    call('hdel', items, '=' .. string.sub(member, 2))
end
