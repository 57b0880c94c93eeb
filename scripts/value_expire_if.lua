-- SPDX-License-Identifier: Apache-2.0
--[[
value_expire_if - set a key's expiry only if it holds the expected value.

KEYS[1]  key (string): the value
ARGV[1]  expected: the value
ARGV[2]  ttl: new time to live, ms; 0: none
ARGV[3]  expires: instant of expiry, Unix ms; 0: none. Without either the key
         no longer expires

Returns  1 done; 0 there is no such key; else the current value.
Repeat   no: the second run could find what another client wrote in between.
Writes   KEYS[1]. Cost O(1).
]]
local current = redis.call('get', KEYS[1])
if not current then
    return 0
elseif current ~= ARGV[1] then
    return current
end
--#record
if ARGV[2] ~= '0' then
    redis.call('pexpire', KEYS[1], ARGV[2])
elseif ARGV[3] ~= '0' then
    redis.call('pexpireat', KEYS[1], ARGV[3])
else
    redis.call('persist', KEYS[1])
end
return 1
