-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_permit_renew - extend the leases of many permits of semaphores of
Redisson, each only for its owner. The keys with the ids are not among KEYS, but
have their hash tags.

KEYS[i]  semaphore (string): a semaphore, n of them
ARGV[i]  owner: owner id of permit i, then
ARGV[n+i]  ttl: lease of permit i, ms

Returns  a flat list {i, 0, ...} of the permits that had expired.
Repeat   safe.
Lane     lease: it must reach the store before the lease ends.
Writes   the keys with the ids. Cost O(n log permits); callers send at most 128.
]]
local call = redis.call
--#use clock
local lost, id, timeouts = {}, nil, nil
local now_ms = math.floor(clock / 1000)
for i, key in ipairs(KEYS) do
    local owner = ARGV[i]
    --#use redisson_permit semaphore=key
    if tonumber(call('zscore', timeouts, id) or 0) > now_ms then
        call('zadd', timeouts, now_ms + ARGV[#KEYS + i], id)
    else
        lost[#lost + 1] = i
        lost[#lost + 1] = 0
    end
end
return lost
