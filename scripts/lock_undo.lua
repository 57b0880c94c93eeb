--[[
lock_undo - free the lock if the owner holds it, and tell the waiter that has
waited longest: on servers of a quorum, which cannot give it to anyone.

KEYS[1]  lock (string): the lock
KEYS[2]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id

Returns  1 released; 0 the lock is free; -1 another owner holds it.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: acquires may be waiting for it.
Quorum   count.
Writes   KEYS[1], KEYS[2]. Cost O(log waiters).
]]
local call = redis.call
local holder = call('get', KEYS[1])
if not holder then
    return 0
elseif string.sub(holder, 1, 32) ~= ARGV[1] then
    return -1
end
call('del', KEYS[1])
--#use wake topic=KEYS[1] waiters=KEYS[2]
return 1
