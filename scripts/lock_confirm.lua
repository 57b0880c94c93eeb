--[[
lock_confirm - bring a lock's fencing token to that of its owner's quorum.

KEYS[1]  the lock
KEYS[2]  last fencing token of this lock
ARGV[1]  owner id
ARGV[2]  the token

Returns  1 the owner holds the lock, and the token is not below that; else 0.
Repeat   safe.
Writes   KEYS[2]. Cost O(1).
]]
if redis.call('get', KEYS[1]) ~= ARGV[1] then
    return 0
end
local last = tonumber(redis.call('get', KEYS[2]) or '')
if not last or last < tonumber(ARGV[2]) then
    redis.call('set', KEYS[2], ARGV[2], 'px', 604800000)
end
return 1
