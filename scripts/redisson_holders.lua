--[[
redisson_holders - who holds a lock of Redisson: its owner, or its readers, the
lease of each of which is in a key of its own, which is not among KEYS but has
their hash tag.

KEYS[1]  lock (hash): hold count by owner, and `mode` of a read-write lock
ARGV[1]  limit: how many to return at most

Returns  a flat list {owner, remaining ms, 1, '', ...}; as lock_holders.
Repeat   safe.
Writes   nothing. Cost O(readers).
]]
local call = redis.call
--#use redisson_owners lock=KEYS[1]
local list, pttl = {}, call('pttl', KEYS[1])
for i = 1, math.min(#owners, ARGV[1]) do
    local timeout, left
    if sort == 1 then
        --#use redisson_timeout lock=KEYS[1] owner=owners[i]
        left = call('pttl', timeout .. '1')
    end
    list[4 * i - 3] = owners[i]
    list[4 * i - 2] = left or pttl
    list[4 * i - 1] = 1
    list[4 * i] = ''
end
return list
