-- SPDX-License-Identifier: Apache-2.0
--[[
lock_adopt - replace the owner of a lock, and begin a new lease.

KEYS[1]  lock (string): the lock
ARGV[1]  from: the owner id to be replaced
ARGV[2]  owner: the new owner id
ARGV[3]  ttl: of the lease, ms

Returns  an empty list: the new owner holds it; {1, 0} the lock is free; {1, -1}
         another owner holds it. As lock_renew.
Repeat   safe: a second run finds the new owner, and its lease starts again.
Lane     lease: it must reach the store before the lease ends.
Quorum   renew.
Leases   first.
Writes   KEYS[1]. Cost O(1).
]]
local value = redis.call('get', KEYS[1])
local holder = value and string.sub(value, 1, 32)
if not value then
    return {1, 0}
elseif holder ~= ARGV[1] and holder ~= ARGV[2] then
    return {1, -1}
end
redis.call('set', KEYS[1], ARGV[2] .. string.sub(value, 33), 'px', ARGV[3])
return {}
