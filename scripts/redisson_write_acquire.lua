-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_write_acquire - take a write lock of Redisson if it is free.

KEYS[1]  lock (hash): mode, and hold count by owner, expiring with the lease
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  unused_waiters: for the form of kinds.h
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  unused_entry: for the form of kinds.h
ARGV[4]  unused_began: likewise
ARGV[5]  unused_rank: likewise
ARGV[6]  unused_kind: likewise

Returns  the token if the owner holds the lock now; else {pttl of the lock,
         an owner that holds it, the store's clock in us}. An error HFTOKEN, and
         nothing is changed: there is no larger token.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Writes   KEYS[1], KEYS[2]. Cost O(readers).
]]
local call = redis.call
--#use clock
local token, mode
--#use redisson_mode lock=KEYS[1]
if mode and call('hexists', KEYS[1], ARGV[1] .. ':write') == 0 then
    local fields = call('hkeys', KEYS[1])
    return {call('pttl', KEYS[1]),
        fields[1] == 'mode' and fields[2] or fields[1], tonumber(clock)}
end
--#use issue_token last=KEYS[2]
if not token then
    --#use no_token
end
call('hset', KEYS[1], 'mode', 'write', ARGV[1] .. ':write', 1)
call('pexpire', KEYS[1], ARGV[2])
return tonumber(token)
