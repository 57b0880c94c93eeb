-- SPDX-License-Identifier: Apache-2.0
--[[
lock_confirm - raise the last fencing token to the one a quorum has issued.

KEYS[1]  lock (string): the lock
KEYS[2]  last_token (string): last fencing token of this store
ARGV[1]  owner: owner id
ARGV[2]  token: the greatest that a server of the quorum has issued

Returns  1 the owner holds the lock, and the last token is not smaller; else 0.
Repeat   safe.
Writes   KEYS[2]. Cost O(1).
]]
local holder = redis.call('get', KEYS[1])
if not holder or string.sub(holder, 1, 32) ~= ARGV[1] then
    return 0
end
local last = redis.pcall('get', KEYS[2])
last = type(last) ~= 'table' and tonumber(last)
if not (last and last >= tonumber(ARGV[2]) and last < 2^53) then
    redis.call('set', KEYS[2], ARGV[2], 'px', '604800000')
end
return 1
