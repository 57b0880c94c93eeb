--[[
lock_acquire - take the lock if it is free, and issue the next fencing token.

KEYS[1]  lock (string): the owner id, expiring with the lease
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): inboxes by when they began to wait, us
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  inbox: to queue if the lock is held; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now

Returns  the token if the owner holds the lock now; else {pttl of the lock,
         owner that holds it, when the caller began to wait} and, if it was
         queued, its position in the queue, from 0. An error HFTOKEN, and
         nothing is changed: there is no larger token.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Quorum   acquire: confirmed by lock_confirm, undone by lock_release.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters).
]]
local call = redis.call
local holder = call('set', KEYS[1], ARGV[1], 'nx', 'get', 'px', ARGV[2])
local now = call('time')
now = now[1] * 1000000 + now[2]
if not holder or holder == ARGV[1] then
    --#use issue_token last=KEYS[2]
    if now == 2^53 then
        call('del', KEYS[1])
        --#use no_token
    end
    if holder then
        call('pexpire', KEYS[1], ARGV[2])
    end
    if ARGV[3] ~= '' then
        call('zrem', KEYS[3], ARGV[3])
    end
    return now
end
local pttl = call('pttl', KEYS[1])
--#use refuse began=ARGV[4] inbox=ARGV[3] waiters=KEYS[3]
