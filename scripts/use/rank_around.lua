-- SPDX-License-Identifier: Apache-2.0
--[[
rank_around - begin a page `left` members before a member, and end it as many
after it. Returns 0 if there is no such member.

member  its name
down    1: greatest score first; else 0
key     sorted set of members by score
due     sorted set of members by deadline
now_ms  the store's clock, ms
turned  list of the ranks of the members that are due, in the page's order
last    variable: the last of all ranks
first   variable: members before the page
left    variable: most members
]]
local at, ends = call('zrevrank', key, member), call('zscore', due, member)
if not at or ends and tonumber(ends) <= now_ms then
    return 0
end
at = down == '1' and at or last - at
local place = at
for _, other in ipairs(turned) do
    place = other < at and place - 1 or place
end
first, left = math.max(0, place - left), math.min(place, left) + left + 1
