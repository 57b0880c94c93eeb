-- SPDX-License-Identifier: Apache-2.0
--[[
rwlock_renew - extend the leases of readers of many locks, each only for its
owner, and remove those of readers that were killed.

KEYS[i]  lock (zset): n of them
ARGV[i]  owner: owner id of the reader of lock i, then
ARGV[n+i]  ttl: its lease, ms

Returns  a flat list {i, why, ...} of the leases that were not renewed; why is 0
         it had ended, -1 a writer holds the lock.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Writes   KEYS[i]. Cost O(n log readers); callers send at most 128. PEXPIRE comes
         before ZADD: a script that has written is not stopped by maxmemory.
]]
local call = redis.call
--#use clock
local lost = {}
for i, key in ipairs(KEYS) do
    local ends = redis.pcall('zscore', key, ARGV[i])
    if tonumber(ends) and -ends > tonumber(clock) then
        local ttl = tonumber(ARGV[#KEYS + i])
        if call('pttl', key) < ttl then
            call('pexpire', key, ttl + math.ceil(ttl / 4))
        end
        call('zadd', key, -clock - ttl * 1000, ARGV[i])
        call('zremrangebyscore', key, '(-' .. clock, -1e12)
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = ends and -1 or 0
    end
end
return lost
