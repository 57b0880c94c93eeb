-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_acquire - take a lock of Redisson if it is free. The hold count that it
keeps for each owner stays 1: the caller counts re-entries itself, so that an
acquire may be sent again.

KEYS[1]  lock (hash): hold count by owner, expiring with the lease
KEYS[2]  last_token (string): last fencing token: ours, or that of RFencedLock
KEYS[3]  unused_waiters: for the form of kinds.h
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  unused_entry: likewise
ARGV[4]  unused_began: likewise
ARGV[5]  unused_rank: likewise
ARGV[6]  kind: fenced: the token is a counter; plain: as of lock_acquire

Returns  the token if the owner holds the lock now; else {pttl of the lock,
         owner that holds it, the store's clock in us}. An error HFTOKEN, and
         nothing is changed: there is no larger token.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Writes   KEYS[1], KEYS[2]. Cost O(1).
]]
local call = redis.call
--#use clock
local token
if call('hexists', KEYS[1], ARGV[1]) == 1
    or call('exists', KEYS[1]) == 0 then
    if ARGV[6] == 'fenced' then
        token = call('incr', KEYS[2])
    else
        --#use issue_token last=KEYS[2]
        if not token then
            --#use no_token
        end
    end
    call('hset', KEYS[1], ARGV[1], 1)
    call('pexpire', KEYS[1], ARGV[2])
    return tonumber(token)
end
--#use redisson_one lock=KEYS[1]
return {call('pttl', KEYS[1]), call('hkeys', KEYS[1])[1], tonumber(clock)}
