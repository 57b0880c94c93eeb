-- SPDX-License-Identifier: Apache-2.0
--[[
set_page - read members of a set, by SSCAN.

KEYS[1]  set (set): members
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1]  cursor: 0: the first page
ARGV[2]  limit: about how many, 1..1000

Returns  {cursor of the next page, 0: there is none; member, time to live, ms
         (-1: it does not expire) of each}.
Repeat   safe.
Writes   nothing. Cost O(limit).
]]
local call = redis.call
--#use timeline_clock
local page = call('sscan', KEYS[1], ARGV[1], 'count', ARGV[2])
local reply = {page[1]}
for _, name in ipairs(page[2]) do
    local ends = call('zscore', KEYS[2], name)
    if not ends or tonumber(ends) > now_ms then
        reply[#reply + 1] = name
        reply[#reply + 1] = ends and ends - now_ms or -1
    end
end
return reply
