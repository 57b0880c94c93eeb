-- SPDX-License-Identifier: Apache-2.0
--[[
rank_due - find the ranks of the members that are due and not yet removed, from
the top: `places`, a list in no order. Returns an error HFLATE if there are too
many.

key     sorted set of members by score
due     sorted set of members by deadline
now_ms  the store's clock, ms
most    text: fewer of them are ranked
]]
local places = {}
local past = call('zrangebyscore', due, '-inf', now_ms, 'limit', 0, most)
if #past >= tonumber(most) then
    --#use rank_late
end
for _, late in ipairs(past) do
    local at = call('zrevrank', key, late)
    if at then
        places[#places + 1] = at
    end
end
