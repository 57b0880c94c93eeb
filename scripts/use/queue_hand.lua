-- SPDX-License-Identifier: Apache-2.0
--[[
queue_hand - give ready jobs to the waiters that have waited longest, each for a
second, and tell them to ask: the reply has the job, and makes the lease as long
as it is to be. Waiters that were killed no longer listen, and an owner that has
a job waits for none: they are skipped, up to 128. Afterwards `head` is the first
job that is still ready; nil: there is none.

queue    key of the queue
items    its hash
waiters  sorted set of entries
clock    the store's clock, us, in 16 digits
paused   true: give none
own      entry of the caller, which is not told
]]
local head = not paused
    and call('zrangebyscore', queue, '7e15', '(8e15', 'limit', 0, 1)[1] or nil
for _ = 1, 128 do
    local waiter = head and call('zpopmin', waiters)[1]
    if not waiter then
        break
    end
    local inbox, holder = string.match(waiter, ' (.+)%-%x+$'), string.sub(waiter, -32)
    local woken = not call('hget', items, holder) and (waiter == own and 1
        or inbox and redis.pcall('publish', inbox, 'ask\0' .. queue)) or 0
    if woken ~= 0 then
        call('zadd', queue, clock + 1e6, holder)
        call('hset', items, holder, '?' .. string.sub(head, 2))
        call('zrem', queue, head)
        head = call('zrangebyscore', queue, '7e15', '(8e15', 'limit', 0, 1)[1]
    end
end
