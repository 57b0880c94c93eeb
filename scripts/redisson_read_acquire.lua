-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_read_acquire - take a read lock of Redisson if no one writes. A key of
its own, which is not among KEYS but has their hash tag, says how long this
reader lives.

KEYS[1]  lock (hash): mode, and hold count by owner, expiring with the last
         lease
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  unused_waiters: for the form of kinds.h
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  unused_entry: for the form of kinds.h
ARGV[4]  unused_began: likewise
ARGV[5]  unused_rank: likewise
ARGV[6]  unused_kind: likewise

Returns  the token if the owner holds the lock now; else {pttl of the lock,
         owner that writes, the store's clock in us}. An error HFTOKEN, and
         nothing is changed: there is no larger token.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Writes   KEYS[1], KEYS[2], the key of the reader. Cost O(1).
]]
local call = redis.call
--#use clock
local token, mode, timeout
--#use redisson_mode lock=KEYS[1]
local pttl = call('pttl', KEYS[1])
if mode == 'write' then
    local fields = call('hkeys', KEYS[1])
    return {pttl, fields[1] == 'mode' and fields[2] or fields[1], tonumber(clock)}
end
--#use issue_token last=KEYS[2]
if not token then
    --#use no_token
end
--#use redisson_timeout lock=KEYS[1] owner=ARGV[1]
call('hset', KEYS[1], 'mode', 'read', ARGV[1], 1)
call('set', timeout .. '1', 1, 'px', ARGV[2])
call('pexpire', KEYS[1], math.max(pttl, ARGV[2]))
return tonumber(token)
