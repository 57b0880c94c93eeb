--[[
lock_break - release a lock whichever owner holds it, and wake a waiter.

KEYS[1]  lock (string): the lock
KEYS[2]  waiters (zset): inboxes

Returns  1 it was held; 0 it was free.
Repeat   no: it could break the lock of the next holder.
Quorum   any.
Writes   KEYS[1], KEYS[2]. Cost O(log waiters).
]]
local call = redis.call
if not call('get', KEYS[1]) then
    return 0
end
call('del', KEYS[1])
--#use wake topic=KEYS[1] waiters=KEYS[2]
return 1
