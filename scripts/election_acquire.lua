-- SPDX-License-Identifier: Apache-2.0
--[[
election_acquire - become the leader if there is none, and issue the next
fencing token.

KEYS[1]  election (hash): owner, term and text of the leader, expiring with its
         lease
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if there is a leader; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now,
         and it is not queued
ARGV[5]  rank: how far to move the entry forward, us
ARGV[6]  text: of the caller, behind a `%`, by which its entry is of a candidate

Returns  the token if the owner is the leader now; else {pttl of the election,
         owner that leads, the store's clock in us} and, if it was queued,
         its position in the queue, from 0. An error HFTOKEN: there is no larger
         token. An error WRONGTYPE: the hash is not of an election. Nothing is
         changed then.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Leases   first.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters).
]]
local call = redis.call
local holder = call('hget', KEYS[1], 'owner')
if not holder and call('exists', KEYS[1]) == 1 then
    return redis.error_reply('WRONGTYPE the hash is not of an election')
end
--#use clock
if not holder or holder == ARGV[1] then
    local token
    --#use issue_token last=KEYS[2]
    if not token then
        --#use no_token
    end
    call('hset', KEYS[1], 'owner', ARGV[1], 'text', string.sub(ARGV[6], 2),
        'term', token)
    call('pexpire', KEYS[1], ARGV[2])
    if ARGV[4] ~= '0' then
        call('zrem', KEYS[3], ARGV[3])
    end
    return tonumber(token)
end
local pttl = call('pttl', KEYS[1])
--#use refuse began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3]
