-- SPDX-License-Identifier: Apache-2.0
--[[
key_build - add to a key that is being built, and extend its life.

KEYS[1]  key: the key being built
ARGV[1]  ttl: from now, ms
ARGV[2]  type: string, hash, timed-hash, list, set or zset
ARGV[3]  count: bytes or elements that are there already; 0: none
ARGV[4...]  items: the bytes to add; or as for key_write

Returns  1 added; 0 the key is gone, or the list has another length.
Repeat   safe: only a list would change, but its length differs then. The caller
         must not take the 0 of a second run for a loss.
Writes   KEYS[1]. Cost O(elements given).
]]
local call = redis.call
local key, kind = KEYS[1], ARGV[2]
if ARGV[3] ~= '0' and call('exists', key) == 0 then
    return 0
end
if kind == 'string' then
    call('setrange', key, ARGV[3], unpack(ARGV, 4))
elseif kind == 'hash' then
    call('hset', key, unpack(ARGV, 4))
elseif kind == 'timed-hash' then
    --#use put_timed
elseif kind == 'set' then
    call('sadd', key, unpack(ARGV, 4))
elseif kind == 'zset' then
    call('zadd', key, unpack(ARGV, 4))
elseif call('llen', key) == tonumber(ARGV[3]) then
    call('rpush', key, unpack(ARGV, 4))
else
    return 0
end
call('pexpire', key, ARGV[1])
return 1
