-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_free - take a lock of Redisson, or all permits, from who holds them, and
wake those that wait. See redisson_look.

lock    key of the lock
braced  the same with a hash tag
sort    2: it is a semaphore
verb    publish or spublish
]]
local channel, message, heard = 'redisson_lock__channel:' .. braced, '0', nil
if sort == 2 then
    message = call('incrby', lock, call('zcard', braced .. ':timeout'))
    call('del', braced .. ':timeout')
    channel = 'redisson_sc:' .. braced
else
    local head = redis.pcall('lindex', 'redisson_lock_queue:' .. braced, 0)
    if call('hexists', lock, 'mode') == 1 then
        channel, message = 'redisson_rwlock:' .. braced, '1'
    elseif type(head) == 'string' then
        channel = channel .. ':' .. head
    end
    call('del', lock)
end
--#use redisson_publish
