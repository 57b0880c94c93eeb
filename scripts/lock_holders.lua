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
--#use list_holders lock=KEYS[1] limit=ARGV[1]
return list
