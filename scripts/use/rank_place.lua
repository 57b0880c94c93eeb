-- SPDX-License-Identifier: Apache-2.0
--[[
rank_place - find the rank of a member, from the top: `place`, and `places` as
rank_due finds them.

member  its name; it is there
key     sorted set of members by score
due     sorted set of members by deadline
now_ms  the store's clock, ms
most    text: fewer members that are due are ranked
]]
--#use rank_due
local at = call('zrevrank', key, member)
local place = at
for _, other in ipairs(places) do
    if other < at then
        place = place - 1
    end
end
