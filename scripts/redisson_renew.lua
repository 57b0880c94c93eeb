-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_renew - extend the leases of many locks of Redisson, each only for its
owner. Of a reader this is also its own key, which is not among KEYS but has
their hash tag.

KEYS[i]  lock (hash): n of them
ARGV[i]  owner: owner id of lock i, then
ARGV[n+i]  ttl: lease of lock i, ms

Returns  a flat list {i, why, ...} of the locks that were not renewed; why is
         0 the lock is free, -1 another owner holds it.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Writes   KEYS[i], keys of readers. Cost O(n); callers send at most 128.
]]
local lost, timeout = {}, nil
for i, key in ipairs(KEYS) do
    local ttl = ARGV[#KEYS + i]
    local held = redis.pcall('hmget', key, ARGV[i], ARGV[i] .. ':write', 'mode')
    if held[1] and held[3] then
        local owner = ARGV[i]
        --#use redisson_timeout lock=key
        redis.call('set', timeout .. '1', 1, 'px', ttl)
        ttl = math.max(ttl, redis.call('pttl', key))
    end
    if held[1] or held[2] then
        redis.call('pexpire', key, ttl)
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = -redis.call('exists', key)
    end
end
return lost
