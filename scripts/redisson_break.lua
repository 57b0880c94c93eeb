--[[
redisson_break - release a lock of Redisson whichever owner holds it, and wake
those that wait for it.

KEYS[1]  lock (hash): hold count by owner
KEYS[2]  queue (list): waiters of a fair lock
ARGV[1]  channel: of locks, redisson_lock__channel:{...}
ARGV[2]  verb: publish or spublish

Returns  1 it was held; 0 it was free.
Repeat   no: it could break the lock of the next holder.
Writes   KEYS[1]. Cost O(subscribers).
]]
local call = redis.call
local mode = call('hget', KEYS[1], 'mode')
if not mode then
    --#use redisson_one lock=KEYS[1]
end
if call('del', KEYS[1]) == 0 then
    return 0
end
local head = call('lindex', KEYS[2], 0)
local channel = head and ARGV[1] .. ':' .. head or ARGV[1]
if mode then
    channel = string.gsub(ARGV[1], '^redisson_lock__channel', 'redisson_rwlock')
end
local heard
local message = mode and '1' or '0'
--#use redisson_publish verb=ARGV[2]
return 1
