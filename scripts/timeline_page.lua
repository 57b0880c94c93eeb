-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_page - read items in the order of their times or of an attribute.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  items (hash): payloads by id
KEYS[3]  labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
KEYS[5]  order (zset): positions
ARGV[1]  begin: of the range of positions, as in ZRANGEBYLEX
ARGV[2]  finish: end of the range
ARGV[3]  backward: 1: from the end of the range; else 0
ARGV[4]  offset: items to skip
ARGV[5]  limit: most items, 1..1000
ARGV[6]  name_size: of the attribute's name, bytes
ARGV[7]  label: of an attribute that the items must have; empty: any
ARGV[8]  low: digits of their first time; empty: any
ARGV[9]  high: digits of the first time beyond; ':': any
ARGV[10]  most: positions to look at; the page may end there

Returns  {position of the last item, or of the last that was looked at, or empty
         if no items follow; count of items on the way that are due and were
         not yet removed; id, time, us, time to live, ms, payload, attributes
         of each item}.
Repeat   safe.
Writes   nothing. Cost O(log items + offset + limit + that count + most).
]]
local call = redis.call
--#use timeline_clock
local reply, page = {'', 0}, {}
if call('zcard', KEYS[1]) == 0 then
    return reply
end
local from, left, found, full = ARGV[1], tonumber(ARGV[5])
local label, low, high, most = ARGV[7], ARGV[8], ARGV[9], tonumber(ARGV[10])
local offset, skip = tonumber(ARGV[4]), 0
if offset > 0 and call('zrangebyscore', KEYS[4], '-inf', now_ms, 'limit', 0, 1)[1] then
    offset, skip = 0, offset
end
local take = math.min(1000, left + skip)
repeat
    if ARGV[3] == '1' then
        found = call('zrevrangebylex', KEYS[5], from, ARGV[2], 'limit', offset, take)
    else
        found = call('zrangebylex', KEYS[5], from, ARGV[2], 'limit', offset, take)
    end
    --#use timeline_select name_size=ARGV[6] due=KEYS[4] order=KEYS[5]
    offset, from, most = 0, '(' .. (found[#found] or ''), most - #found
    full, take = #found == take, math.min(1000, 2 * take, most)
until left == 0 or not full or most <= 0
if #page > 0 then
    local payloads = call('hmget', KEYS[2], unpack(page))
    local labels = call('hmget', KEYS[3], unpack(page))
    for i = 1, #page do
        reply[5 * i + 1], reply[5 * i + 2] = payloads[i], labels[i] or ''
    end
end
if left > 0 then
    reply[1] = full and found[#found] or ''
end
return reply
