--[[
semaphore_release - give a permit back and wake the waiter that has waited
longest.

KEYS[1]  semaphore (zset): the semaphore
KEYS[2]  waiters (zset): inboxes
ARGV[1]  owner: owner id

Returns  1 released; 0 the permit had expired.
Repeat   safe: owner ids are never used twice, so a second run finds 0.
Lane     lease: acquires may be waiting for it.
Writes   KEYS[1], KEYS[2]. Cost O(log permits + log waiters).
]]
local call = redis.call
local ends = call('zscore', KEYS[1], ARGV[1])
if not ends then
    return 0
end
local now = call('time')
call('zrem', KEYS[1], ARGV[1])
--#use wake topic=KEYS[1] waiters=KEYS[2]
return tonumber(ends) > now[1] * 1000000 + now[2] and 1 or 0
