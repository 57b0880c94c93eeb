-- SPDX-License-Identifier: Apache-2.0
--[[
semaphore_renew - extend the leases of many permits, each only for its owner.

KEYS[i]  semaphore (zset): a semaphore, n of them
ARGV[i]  owner: owner id of permit i, then
ARGV[n+i]  ttl: lease of permit i, ms

Returns  a flat list {i, 0, ...} of the permits that had expired.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Writes   KEYS[i]. Cost O(n log permits); callers send at most 128. PEXPIRE or
         ZREM comes before ZADD: a script that has written is not stopped by
         maxmemory. The expiry of a work queue is its user's, and stays.
]]
local call = redis.call
--#use clock
local lost = {}
for i, key in ipairs(KEYS) do
    local ends = tonumber(redis.pcall('zscore', key, ARGV[i])) or 0
    if ends > tonumber(clock) then
        local ttl, left = tonumber(ARGV[#KEYS + i]), call('pttl', key)
        --#use queue_mark key=key
        if left >= 0 and not mark then
            call('pexpire', key, math.max(ttl, left))
        else
            call('zrem', key, '')
        end
        call('zadd', key, clock + ttl * 1000 + ends % 1, ARGV[i])
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = 0
    end
end
return lost
