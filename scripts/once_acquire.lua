-- SPDX-License-Identifier: Apache-2.0
--[[
once_acquire - claim work that is to be done once, unless it is done, in doubt
or under way, and issue the next fencing token.

KEYS[1]  once (hash): the record, see use/once_claim.lua
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id, unique to this claim
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if it is under way; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock, which says
         for which tick; 0: now, and it is not queued
ARGV[5]  rank: how far to move the entry forward, us
ARGV[6]  terms: what use/once_terms.lua reads

Returns  the token if the owner has the claim now; else {time until the lease of
         the claim ends, ms, its owner, the store's clock in us} and, if it was
         queued, its position in the queue. {-3, result, status}: it is done.
         {-4, owner, the store's clock}: the lease of that owner has ended
         without a result. {-5, fingerprint, 0}: claimed with that other
         fingerprint. A record of a later tick counts as one of the current. An
         error HFTOKEN: there is no larger token. An error WRONGTYPE: the hash
         is no such record. Nothing is changed then.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters + result).
]]
local call = redis.call
--#use once_ours key=KEYS[1]
--#use clock
local asked = ARGV[4] ~= '0' and ARGV[4] or clock
--#use once_terms terms=ARGV[6]
local held, doubt = ours and tonumber(ends) > tonumber(clock), ''
if ours and record[5] == ARGV[1] then
    doubt, tick, held = record[7], record[3], false
elseif ours and tonumber(record[3]) >= tonumber(tick) then
    if record[6] ~= digest then
        return {-5, record[6], 0}
    elseif ends == '0' then
        return {-3, call('hget', KEYS[1], 'result') or '', tonumber(record[8])}
    elseif not held and retry == '0' then
        return {-4, record[5], tonumber(clock)}
    end
    doubt, tick = '1', record[3]
end
if not held then
    local token
    --#use issue_token last=KEYS[2]
    if not token then
        --#use no_token
    end
    --#use once_claim record=KEYS[1] owner=ARGV[1] ttl=ARGV[2]
    if ARGV[4] ~= '0' then
        call('zrem', KEYS[3], ARGV[3])
    end
    return tonumber(token)
end
local holder, pttl = record[5], math.ceil((ends - clock) / 1000)
--#use refuse began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3]
