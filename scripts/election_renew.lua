-- SPDX-License-Identifier: Apache-2.0
--[[
election_renew - extend the leases of many leaders.

KEYS[i]  election (hash): n of them
ARGV[i]  owner: owner id of leader i, then
ARGV[n+i]  ttl: lease of leader i, ms

Returns  a flat list {i, why, ...} of those not renewed; why is 0 there is no
         leader, -1 another owner leads.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Leases   all.
Writes   KEYS[i]. Cost O(n); callers send at most 128.
]]
local lost = {}
for i, key in ipairs(KEYS) do
    local holder = redis.pcall('hget', key, 'owner')
    if holder == ARGV[i] then
        redis.call('pexpire', key, ARGV[#KEYS + i])
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = holder and -1 or 0
    end
end
return lost
