-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_count_matching - count the items that a page without a limit would
have, from the arguments of timeline_page.

KEYS[1]  timeline (zset): ids by time, us
KEYS[2]  unused_items (hash): payloads by id
KEYS[3]  unused_labels (hash): attributes by id
KEYS[4]  due (zset): ids by deadline, ms
KEYS[5]  order (zset): positions
ARGV[1]  begin: of the range of positions, as in ZRANGEBYLEX
ARGV[2]  finish: end of the range
ARGV[3]  backward: 1: from the end of the range; else 0
ARGV[4]  unused_offset: items to skip
ARGV[5]  unused_limit: most items
ARGV[6]  name_size: of the attribute's name, bytes
ARGV[7]  label: of an attribute that the items must have; empty: any
ARGV[8]  low: digits of their first time; empty: any
ARGV[9]  high: digits of the first time beyond; ':': any
ARGV[10]  most: positions to look at

Returns  {the last position that was looked at, or empty if that was all of the
         range; the count}.
Repeat   safe.
Writes   nothing. Cost O(log items + most).
]]
local call = redis.call
--#use timeline_clock
local reply, page, left, skip = {'', 0}, {}, 1, tonumber(ARGV[10])
local from, most, found, full = ARGV[1], skip
local label, low, high = ARGV[7], ARGV[8], ARGV[9]
if call('zcard', KEYS[1]) == 0 then
    return reply
end
repeat
    local take = math.min(1000, most)
    if ARGV[3] == '1' then
        found = call('zrevrangebylex', KEYS[5], from, ARGV[2], 'limit', 0, take)
    else
        found = call('zrangebylex', KEYS[5], from, ARGV[2], 'limit', 0, take)
    end
    --#use timeline_select name_size=ARGV[6] due=KEYS[4] order=KEYS[5]
    full, most = #found == take, most - take
    from = '(' .. (found[#found] or '')
until not full or most <= 0
return {full and found[#found] or '', ARGV[10] - skip}
