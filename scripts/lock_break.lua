--[[
lock_break - take the lock from its holder: give it to the waiter that has
waited longest, or free it.

KEYS[1]  lock (string): the lock
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us

Returns  1 it was held; 0 it was free.
Repeat   no: it could break the lock of the next holder.
Quorum   any.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters).
]]
local call = redis.call
if not call('get', KEYS[1]) then
    return 0
end
local reply
--#use hand_over lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=''
return 1
