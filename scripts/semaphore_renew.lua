--[[
semaphore_renew - extend the leases of many permits, each only for its owner.

KEYS[i]  semaphore (zset): a semaphore, n of them
ARGV[i]  owner: owner id of permit i, then
ARGV[n+i]  ttl: lease of permit i, ms

Returns  a flat list {i, 0, ...} of the permits that had expired.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Writes   KEYS[i]. Cost O(n log permits); callers send at most 128. PEXPIRE comes
         before ZADD: a script that has written is not stopped by maxmemory.
]]
local call = redis.call
local now = call('time')
now = now[1] * 1000000 + now[2]
local lost = {}
for i, key in ipairs(KEYS) do
    local ends = redis.pcall('zscore', key, ARGV[i])
    if (tonumber(ends) or 0) > now then
        local ttl = tonumber(ARGV[#KEYS + i])
        call('pexpire', key, math.max(ttl, call('pttl', key)))
        call('zadd', key, now + ttl * 1000, ARGV[i])
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = 0
    end
end
return lost
