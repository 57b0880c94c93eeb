-- SPDX-License-Identifier: Apache-2.0
--[[
rank_open - before a write of a rank: return an error HFHELD if the key is a
lease that is held; else as member_open.

key  sorted set of members by score
due  sorted set of members by deadline
]]
--#use member_open count='zcard'
if not fresh and had == 0 then
    --#use refuse_held
end
