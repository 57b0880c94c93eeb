-- SPDX-License-Identifier: Apache-2.0
--[[
key_read - read a key of any type with its expiry, unless it is too large.

KEYS[1]  key: of any type
ARGV[1]  elements: limit; 0: do not read the content
ARGV[2]  bytes: limit
ARGV[3]  timed: 1: the server has HPEXPIRETIME, and the type of a hash of which
         a field expires is "timed-hash"

Returns  {type} of a type that has no elements, "none" too; else {type, instant
         of expiry in Unix ms or -1, count of elements or bytes, mark}, where
         mark identifies the ends of a list; then all elements, unless they
         exceed a limit; of a timed-hash field, value, deadline or 0; of a
         stream the reply to DUMP. An expiry later than 2^53, which is no whole
         number in Lua, is replied as 2^53.
Repeat   safe: it only reads.
Writes   nothing. Cost O(elements read), of a stream also O(what is pending).
]]
local call = redis.call
local key, most, room = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local kind, mark, list = call('type', key).ok, '', nil
local count = kind == 'string' and call('strlen', key)
    or kind == 'hash' and call('hlen', key)
    or kind == 'list' and call('llen', key)
    or kind == 'set' and call('scard', key)
    or kind == 'zset' and call('zcard', key)
    or kind == 'stream' and call('xlen', key)
if not count then
    return {kind}
end
if kind == 'string' then
    list = most > 0 and count <= room and {call('get', key)}
elseif kind == 'stream' then
    list = most > 0 and count <= most and {call('dump', key)}
    room = list and room - #list[1] or room
elseif kind == 'list' then
    --#use read_list
elseif count <= most then
    for _, field in ipairs(kind == 'hash' and call('hkeys', key) or {}) do
        room = room - #field - call('hstrlen', key, field)
    end
    list = room >= 0 and (kind == 'hash' and call('hgetall', key)
        or kind == 'set' and call('smembers', key)
        or call('zrange', key, 0, -1, 'withscores'))
end
if kind == 'hash' and ARGV[3] == '1' and list and #list > 0 then
    --#use with_deadlines
end
local expiry = math.min(call('pexpiretime', key), 9007199254740992)
local reply = {kind, expiry, count, mark}
for i = 1, room >= 0 and list and #list or 0 do
    reply[4 + i] = list[i]
end
return reply
