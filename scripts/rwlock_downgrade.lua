-- SPDX-License-Identifier: Apache-2.0
--[[
rwlock_downgrade - turn a writer into a reader, and let in the readers at the
head of the queue.

KEYS[1]  lock (string): the owner id of the writer; afterwards, a sorted set of
         owner ids by the end of their leases, us, negative
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  ttl: of the lease, ms

Returns  1 the owner reads; 0 the lock is free; -1 another owner holds it.
Repeat   safe: an owner that reads already has its lease extended.
Lane     lease: acquires may be waiting for it.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters + readers let in).
]]
local call = redis.call
--#use clock
local holder, reply = redis.pcall('get', KEYS[1]), 1
if type(holder) == 'string' and string.sub(holder, 1, 32) == ARGV[1] then
    call('del', KEYS[1])
elseif type(holder) ~= 'table' or not call('zscore', KEYS[1], ARGV[1]) then
    return holder and -1 or 0
end
call('zadd', KEYS[1], -clock - ARGV[2] * 1000, ARGV[1])
call('pexpire', KEYS[1], math.max(ARGV[2], call('pttl', KEYS[1])))
--#use admit lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own='' ping=nil pop=nil
return 1
