--[[
lock_release - give the lock up and wake the waiter that has waited longest.

KEYS[1]  lock: the lock
KEYS[2]  waiters: sorted set of inboxes
ARGV[1]  owner: owner id

Returns  1 released; 0 nobody holds it; -1 another owner holds it.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: it must not queue behind acquires that wait for it.
Quorum   count.
Writes   KEYS[1], KEYS[2]. Cost O(log waiters). Tries up to 128 waiters, because
         one that was killed listens no more.
]]
local call = redis.call
local holder = call('get', KEYS[1])
if not holder then
    return 0
elseif holder ~= ARGV[1] then
    return -1
end
call('del', KEYS[1])
--#use wake topic=KEYS[1] waiters=KEYS[2]
return 1
