--[[
lock_leave - stop waiting for a lock. If the lock is free by now, its wake-up
may have come to the caller: pass it on.

KEYS[1]  the lock
KEYS[2]  waiters: sorted set of inboxes
ARGV[1]  inbox

Returns  1 if the inbox was still queued, else 0.
Repeat   safe: one wake-up too many is harmless.
Writes   KEYS[2]. Cost O(log waiters).
]]
local queued = redis.call('zrem', KEYS[2], ARGV[1])
if redis.call('exists', KEYS[1]) == 0 then
    for _ = 1, 128 do
        local head = redis.call('zpopmin', KEYS[2])[1]
        local woken = head and redis.pcall('publish', head, KEYS[1])
        if woken ~= 0 then
            break
        end
    end
end
return queued
