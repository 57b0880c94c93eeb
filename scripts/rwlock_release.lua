-- SPDX-License-Identifier: Apache-2.0
--[[
rwlock_release - stop reading. The last reader hands the lock over.

KEYS[1]  lock (zset): owner ids of readers by the end of their leases, us,
         negative; a string if a writer holds it
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  leave: entry of the caller, which stops waiting; empty: it did not
         wait. This and the rest may be left out
ARGV[3]  entry: the caller's next waiter, to be queued; empty: none
ARGV[4]  began: when that began to wait, us
ARGV[5]  rank: how far to move it forward, us

Returns  1 released; the grant if that waiter has it now; 0 the lease had ended;
         -1 a writer holds the lock.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: acquires may be waiting for it.
Leases   first.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log readers + log waiters).
]]
local call = redis.call
local reply = redis.pcall('zrem', KEYS[1], ARGV[1])
if type(reply) == 'table' then
    call('get', KEYS[1])
    reply = -1
end
if (ARGV[2] or '') ~= '' then
    call('zrem', KEYS[3], ARGV[2])
end
if (ARGV[3] or '') ~= '' and reply == 1 then
    call('zadd', KEYS[3], ARGV[4] - ARGV[5], ARGV[3])
    call('pexpire', KEYS[3], 360000)
end
if reply ~= -1 and call('exists', KEYS[3]) == 1 then
    --#use clock
    local holder, pttl
    --#use readers lock=KEYS[1]
    local shared = holder
    if not holder then
        --#use hand_over lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=ARGV[3] note=''
    end
    if shared then
        --#use admit lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=ARGV[3] ping=call('exists',KEYS[1])==0 pop=nil
    end
end
return reply
