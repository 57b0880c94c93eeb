-- SPDX-License-Identifier: Apache-2.0
--[[
semaphore_inspect - how many permits of a semaphore are held.

KEYS[1]  semaphore (zset): owner ids by the end of their leases, us
KEYS[2]  waiters (zset): entries by when they began to wait, us

Returns  {stored number of permits, or 0; permits held; by how many; count of
         waiters}. An error WRONGTYPE: the sorted set is of a queue.
Repeat   safe.
Writes   nothing. Cost O(log permits + expired permits).
]]
local call = redis.call
--#use clock
--#use queue_mark key=KEYS[1]
if mark then
    return redis.error_reply('WRONGTYPE the sorted set is not of a semaphore')
end
local size = call('zscore', KEYS[1], '=') or 0
local more = -(call('zscore', KEYS[1], '+') or 0)
for _, owner in ipairs(more > 0
        and call('zrangebyscore', KEYS[1], '(1e12', clock) or {}) do
    more = more + 1 - (call('zscore', KEYS[1], '#' .. owner) or 1)
end
local holders = call('zcount', KEYS[1], '(' .. clock, '+inf')
return {-size, holders + more, holders, call('zcard', KEYS[2])}
