--[[
lock_leave - stop waiting for a lock or a semaphore. If the lock is free, or a
release has taken the inbox from the queue, the wake-up may have been sent to
the caller: wake the next waiter.

KEYS[1]  lock (string): the lock
KEYS[2]  waiters (zset): inboxes
ARGV[1]  inbox: the caller's

Returns  1 if the inbox was still queued, else 0.
Repeat   safe: an additional wake-up is harmless.
Quorum   any.
Writes   KEYS[2]. Cost O(log waiters).
]]
local call = redis.call
local queued = call('zrem', KEYS[2], ARGV[1])
if queued == 0 or call('exists', KEYS[1]) == 0 then
    --#use wake topic=KEYS[1] waiters=KEYS[2]
end
return queued
