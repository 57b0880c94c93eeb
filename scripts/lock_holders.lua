--[[
lock_holders - who holds a lock: its owner, its readers, or those who hold
permits.

KEYS[1]  lock (string): the lock; or a sorted set, of readers or permits
ARGV[1]  limit: how many to return at most

Returns  a flat list {owner, remaining ms, permits, token, ...}. The token is
         empty if it is unknown, as of readers and permits.
Repeat   safe.
Writes   nothing. Cost O(holders).
]]
local call = redis.call
local holder = redis.pcall('get', KEYS[1])
if type(holder) ~= 'table' then
    --#use lock_owner value=holder
    return owner and {owner, call('pttl', KEYS[1]), 1, token} or {}
end
--#use find_holder lock=KEYS[1]
local found = call('zrangebyscore', KEYS[1], low, high, 'withscores', 'limit', 0,
    ARGV[1])
local list = {}
for i = 1, #found, 2 do
    local ends = math.abs(found[i + 1])
    local weight = ends % 1 ~= 0 and call('zscore', KEYS[1], '#' .. found[i])
    list[#list + 1] = found[i]
    list[#list + 1] = math.ceil((ends - clock) / 1000)
    list[#list + 1] = tonumber(weight or 1)
    list[#list + 1] = ''
end
return list
