-- SPDX-License-Identifier: Apache-2.0
--[[
semaphore_adopt - replace the owner of a permit, and begin a new lease.

KEYS[1]  semaphore (zset): owner ids by the end of their permits
ARGV[1]  from: the owner id to be replaced
ARGV[2]  owner: the new owner id
ARGV[3]  ttl: of the lease, ms

Returns  an empty list: the new owner holds the permit; {1, 0} it had expired, or
         another owner has it. As semaphore_renew.
Repeat   safe: a second run finds the new owner, and its lease starts again.
Lane     lease: it must reach the store before the lease ends.
Writes   KEYS[1]. Cost O(log permits). PEXPIRE comes before ZADD: a script that
         has written is not stopped by maxmemory.
]]
local call = redis.call
local now = call('time')
now = now[1] * 1000000 + now[2]
local ends = call('zscore', KEYS[1], ARGV[1])
    or call('zscore', KEYS[1], ARGV[2])
if (tonumber(ends) or 0) <= now then
    return {1, 0}
end
local ttl = tonumber(ARGV[3])
local left = call('pttl', KEYS[1])
if left >= 0 then
    call('pexpire', KEYS[1], math.max(ttl, left))
end
call('zrem', KEYS[1], ARGV[1])
call('zadd', KEYS[1], now + ttl * 1000, ARGV[2])
return {}
