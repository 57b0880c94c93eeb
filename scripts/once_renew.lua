-- SPDX-License-Identifier: Apache-2.0
--[[
once_renew - extend the leases of many claims, each only for its owner.

KEYS[i]  once (hash): a record, n of them
ARGV[i]  owner: owner id of claim i, then
ARGV[n+i]  ttl: lease of claim i, ms

Returns  a flat list {i, why, ...} of the claims not renewed; why is 0 the lease
         has ended, or there is no record, -1 another owner has the claim.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Writes   KEYS[i]. Cost O(n); callers send at most 128. PEXPIRE comes before HSET:
         a script that has written is not stopped by maxmemory.
]]
local call = redis.call
--#use clock
local lost = {}
for i, key in ipairs(KEYS) do
    --#use once_record key=key
    if ours and record[5] == ARGV[i] and tonumber(ends) > tonumber(clock) then
        local ttl = tonumber(ARGV[#KEYS + i])
        call('pexpire', key, ttl + record[2])
        call('hset', key, 'until', clock + ttl * 1000)
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = ours and record[5] ~= ARGV[i] and -1 or 0
    end
end
return lost
