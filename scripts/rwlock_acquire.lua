-- SPDX-License-Identifier: Apache-2.0
--[[
rwlock_acquire - share a lock with other readers if no writer holds it and none
waits for it, and issue the next fencing token. If it is free, a writer at the
head of the queue is notified once, and asks for it.

KEYS[1]  lock (zset): owner ids of readers by the end of their leases, us,
         negative; a string if a writer holds it
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if the lock is held; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now,
         and it is not queued
ARGV[5]  rank: how far to move the entry forward, us

Returns  the token if the owner reads now; else {pttl of the lock, owner that
         holds it, the store's clock in us} and, if it was queued, its position
         in the queue, from 0. An error HFTOKEN, and nothing is changed: there
         is no larger token.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Leases   first.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log readers + log waiters).
]]
local call = redis.call
--#use clock
local ttl, added, token, reply, pttl = tonumber(ARGV[2])
local queued = call('exists', KEYS[3]) > 0
local holder = queued and redis.pcall('get', KEYS[1])
if type(holder) == 'table' then
    --#use readers lock=KEYS[1]
end
local reads = pttl and call('zscore', KEYS[1], ARGV[1])
if queued and not reads and (pttl or not holder) then
    --#use admit lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=ARGV[3] ping=true pop=not(holder)
    queued = reply == false or not reply and call('exists', KEYS[3]) > 0
end
if reads or not queued then
    added = redis.pcall('zadd', KEYS[1], -clock - ttl * 1000, ARGV[1])
end
if tonumber(added) then
    token = string.match(reply or '', ' (%d+)')
    if not token then
        --#use issue_token last=KEYS[2]
    end
    if not token then
        call('zrem', KEYS[1], ARGV[1])
        --#use no_token
    end
    --#use keep_readers lock=KEYS[1] owner=ARGV[1]
    return tonumber(token)
elseif added and not string.find(added.err, '^WRONG') then
    return added
elseif not pttl then
    holder, pttl = added and call('get', KEYS[1]) or holder or '', call('pttl', KEYS[1])
    --#use mark lock=KEYS[1] entry=ARGV[3]
end
--#use refuse began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3]
