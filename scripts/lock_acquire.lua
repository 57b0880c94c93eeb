-- SPDX-License-Identifier: Apache-2.0
--[[
lock_acquire - take the lock if it is free, and issue the next fencing token.

KEYS[1]  lock (string): the owner id and the token, expiring with the lease; see
         use/lock_value.lua
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if the lock is held; empty: do not queue. This and the
         rest may be left out
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now,
         and it is not queued
ARGV[5]  rank: how far to move the entry forward, us

Returns  the token if the owner holds the lock now; else {pttl of the lock,
         owner that holds it, the store's clock in us} and, if it was queued,
         its position in the queue, from 0. In a gap, which is left to other
         libraries (lock_release), the owner is the head of the queue and the
         pttl -1. An error HFTOKEN, and nothing is
         changed: there is no larger token.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Quorum   acquire: confirmed by lock_confirm, undone by lock_undo.
Leases   first.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters).
]]
local call = redis.call
--#use clock
local value = ARGV[1] .. '=' .. clock
local holder = redis.pcall('set', KEYS[1], value, 'nx', 'get', 'px', ARGV[2])
local pttl, freed
if holder and holder.err then
    if not string.find(holder.err, '^WRONGTYPE') then
        return holder
    end
    --#use readers lock=KEYS[1]
    freed = not holder
    holder = holder or call('set', KEYS[1], value, 'nx', 'get', 'px', ARGV[2])
end
--#use claim lock=KEYS[1] ttl=ARGV[2] entry=ARGV[3]
--#use in_gap lock=KEYS[1] waiters=KEYS[3] entry=ARGV[3]
if not holder or string.sub(holder, 1, 32) == ARGV[1] then
    local token
    --#use issue_token last=KEYS[2]
    if not token then
        call('del', KEYS[1])
        --#use no_token
    end
    local waited, mark = freed or (ARGV[4] or '0') ~= '0', ''
    if waited or ARGV[3] and call('exists', KEYS[3]) == 1 then
        call('zrem', KEYS[3], ARGV[3] or '')
        mark = '+'
    end
    if holder or mark ~= '' or token ~= clock then
        mark = holder and string.match(holder, '%+$') or mark
        --#use lock_value lock=KEYS[1] owner=ARGV[1] ttl=ARGV[2]
    end
    return tonumber(token)
end
local entry = ARGV[3] or ''
if not pttl then
    pttl = call('pttl', KEYS[1])
    --#use mark lock=KEYS[1] entry=entry
end
--#use refuse began=ARGV[4] rank=ARGV[5] entry=entry waiters=KEYS[3]
