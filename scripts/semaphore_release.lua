-- SPDX-License-Identifier: Apache-2.0
--[[
semaphore_release - give permits back, and to those who have waited longest.

KEYS[1]  semaphore (zset): the semaphore
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  leave: entry of the caller, which stops waiting; empty: it did not
         wait. This and the rest may be left out
ARGV[3]  entry: the caller's next waiter, to be queued; empty: none
ARGV[4]  began: when that began to wait, us
ARGV[5]  rank: how far to move it forward, us

Returns  1 released; the grant if that waiter has its permits now; 0 the lease
         had ended.
Repeat   safe: owner ids are never used twice, so a second run finds 0.
Lane     lease: acquires may be waiting for it.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log permits + log waiters).
]]
local call = redis.call
local ends = call('zscore', KEYS[1], ARGV[1]) or 0
--#use clock
local reply = tonumber(ends) > tonumber(clock) and 1 or 0
call('zrem', KEYS[1], ARGV[1])
if ends % 1 ~= 0 then
    local left = call('zscore', KEYS[1], '+') + call('zscore', KEYS[1], '#' .. ARGV[1]) - 1
    call('zrem', KEYS[1], '+', '#' .. ARGV[1])
    local _ = left < 0 and call('zadd', KEYS[1], left, '+')
end
if (ARGV[2] or '') ~= '' then
    call('zrem', KEYS[3], ARGV[2])
end
if (ARGV[3] or '') ~= '' and reply == 1 then
    call('zadd', KEYS[3], ARGV[4] - ARGV[5], ARGV[3])
    call('pexpire', KEYS[3], '360000')
end
if call('exists', KEYS[3]) == 1 then
    local held, more, size
    --#use count_permits semaphore=KEYS[1]
    --#use hand_permits semaphore=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=ARGV[3] ping=nil
end
return reply
