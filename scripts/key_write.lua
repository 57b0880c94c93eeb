-- SPDX-License-Identifier: Apache-2.0
--[[
key_write - create or replace a collection with its expiry in one step.

KEYS[1]  key: the collection
KEYS[2]  spare: a temporary name
ARGV[1]  condition: nx: only if the key does not exist; else empty
ARGV[2]  type: hash, timed-hash, list, set, zset or stream
ARGV[3]  expiry: Unix ms; 0: none
ARGV[4...]  items: field, value ...; or field, value, deadline in Unix ms or 0
         ...; or element ...; or score, member ...; or of a stream what DUMP
         replied

Returns  1 written; 0 refused by nx.
Repeat   safe: a second run writes the same, or finds what the first wrote and
         answers 0, which the caller must not take for a refusal.
Writes   KEYS[1], KEYS[2]. Cost O(elements given). An old key is deleted
         only when the new one is complete.
]]
local call = redis.call
local kind, exists = ARGV[2], call('exists', KEYS[1]) == 1
if exists and ARGV[1] == 'nx' then
    return 0
end
local to = exists and KEYS[2] or KEYS[1]
if exists then
    call('del', to)
end
if kind == 'hash' then
    call('hset', to, unpack(ARGV, 4))
elseif kind == 'timed-hash' then
    --#use put_timed key=to
elseif kind == 'list' then
    call('rpush', to, unpack(ARGV, 4))
elseif kind == 'set' then
    call('sadd', to, unpack(ARGV, 4))
elseif kind == 'stream' then
    call('restore', to, '0', unpack(ARGV, 4))
else
    call('zadd', to, unpack(ARGV, 4))
end
if ARGV[3] ~= '0' then
    call('pexpireat', to, ARGV[3])
end
if exists and call('exists', to) == 1 then
    call('rename', to, KEYS[1])
end
return 1
