-- SPDX-License-Identifier: Apache-2.0
--[[
token_raise - raise the last fencing token to at least a given one.

KEYS[1]  last_token (string): the key of the last fencing token
ARGV[1]  token: the minimum
ARGV[2]  expiry: Unix ms; 0: none

Returns  1 raised; 0 it was not smaller.
Repeat   safe: the second run changes nothing.
Writes   KEYS[1]. Cost O(1).
]]
local last = redis.pcall('get', KEYS[1])
last = type(last) ~= 'table' and tonumber(last)
if last and last >= tonumber(ARGV[1]) and last < 2^53 then
    return 0
end
if ARGV[2] == '0' then
    redis.call('set', KEYS[1], ARGV[1])
else
    redis.call('set', KEYS[1], ARGV[1], 'pxat', ARGV[2])
end
return 1
