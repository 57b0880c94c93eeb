-- SPDX-License-Identifier: Apache-2.0
--[[
page_read - about 100 elements of a key. Their sizes are not known, so they are
read in the server, a few at a time and within a script's limit of memory, and
no more than the beginning of each is returned.

KEYS[1]  the key
ARGV[1]  its type: list, zset, stream, hash or set
ARGV[2]  from where on: an index, an ID or a cursor

Returns  where the next page begins, nil at the end; the elements; 1 if some were
         left out, else 0.
]]
local key, kind, at = KEYS[1], ARGV[1], ARGV[2]
local out, bytes, count, cut = {}, 262144, 4000, 0
local function short(value)
    if type(value) == 'table' then
        local list = {}
        for i, one in ipairs(value) do
            if bytes < 0 or count < 0 then cut = 1 break end
            list[i] = short(one)
        end
        return list
    end
    count = count - 1
    if type(value) ~= 'string' then return value end
    bytes = bytes - math.min(#value, 1024)
    if #value <= 1024 then return value end
    local size = 1024
    while size > 1020 and math.floor((value:byte(size + 1)) / 64) == 2 do
        size = size - 1
    end
    return {false, value:sub(1, size), #value}
end
local read = {}
function read.list()
    local found = redis.call('lrange', key, at, at + 9)
    at = #found == 10 and at + 10
    return found
end
function read.zset()
    local found = redis.call('zrange', key, at, at + 9, 'withscores')
    at = #found == 20 and at + 10
    return found
end
function read.stream()
    local found = redis.call('xrange', key, at, '+', 'count', 10)
    at = #found == 10 and '(' .. found[10][1]
    return found
end
function read.hash()
    local scan = kind == 'set' and 'sscan' or 'hscan'
    local found = redis.call(scan, key, at, 'count', 10)
    at = found[1] ~= '0' and found[1]
    return found[2]
end
read.set = read.hash
if kind == 'list' or kind == 'zset' then at = tonumber(at) end
for i = 1, 10 do
    for _, one in ipairs(short(read[kind]())) do out[#out + 1] = one end
    if not at or bytes < 0 or count < 0 then break end
end
return {at and tostring(at), out, cut}
