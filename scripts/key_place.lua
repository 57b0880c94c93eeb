-- SPDX-License-Identifier: Apache-2.0
--[[
key_place - rename a key that was built, and set its expiry.

KEYS[1]  built: what key_build made
KEYS[2]  key: its final name
ARGV[1]  condition: nx: only if the name is free; else empty
ARGV[2]  expiry: Unix ms; 0: none

Returns  1 done; 0 refused by nx, and what was built is deleted; -1 it was gone
         already.
Repeat   safe: a second run answers -1, which the caller must not take for a
         loss.
Writes   KEYS[1], KEYS[2]. Cost O(elements of the key that is replaced).
]]
if redis.call('exists', KEYS[1]) == 0 then
    return -1
end
if ARGV[1] == 'nx' and redis.call('exists', KEYS[2]) == 1 then
    redis.call('unlink', KEYS[1])
    return 0
end
if ARGV[2] == '0' then
    redis.call('persist', KEYS[1])
else
    redis.call('pexpireat', KEYS[1], ARGV[2])
end
if redis.call('exists', KEYS[1]) == 1 then
    redis.call('rename', KEYS[1], KEYS[2])
end
return 1
