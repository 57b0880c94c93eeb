-- SPDX-License-Identifier: Apache-2.0
--[[
lock_renew - extend the leases of many locks, each only for its owner.

KEYS[i]  lock (string): n of them
ARGV[i]  owner: owner id of lock i, then
ARGV[n+i]  ttl: lease of lock i, ms

Returns  a flat list {i, why, ...} of the locks that were not renewed; why is
         0 the lock is free, -1 another owner holds it.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Quorum   renew.
Leases   all.
Writes   KEYS[i]. Cost O(n); callers send at most 128.
]]
local lost = {}
for i, key in ipairs(KEYS) do
    local holder = redis.pcall('get', key)
    if type(holder) == 'string' and string.sub(holder, 1, 32) == ARGV[i] then
        redis.call('pexpire', key, ARGV[#KEYS + i])
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = holder and -1 or 0
    end
end
return lost
