--[[
lock_break - take a lock from whoever holds it and wake a waiter.

KEYS[1]  lock: the lock
KEYS[2]  waiters: sorted set of inboxes

Returns  1 if somebody held it, else 0.
Repeat   no: it could break the lock of the next holder.
Quorum   any.
Writes   KEYS[1], KEYS[2]. Cost O(log waiters). Tries up to 128 waiters, as
         lock_release does.
]]
local call = redis.call
if not call('get', KEYS[1]) then
    return 0
end
call('del', KEYS[1])
--#use wake topic=KEYS[1] waiters=KEYS[2]
return 1
