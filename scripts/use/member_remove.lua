-- SPDX-License-Identifier: Apache-2.0
--[[
member_remove - remove members of a set or a rank, which was opened: `found` is how
many were there; those that were due do not count.

names   list of members
remove  command that removes members of the key: 'srem' or 'zrem'
count   command that counts them
find    command that finds them: 'smismember' or 'zmscore'
now_ms  the store's clock, ms
key     set or sorted set of members
due     sorted set of members by deadline
]]
local gone, stays, last = {}, false, nil
local ends = call('zmscore', due, unpack(names))
for i, name in ipairs(names) do
    if ends[i] and tonumber(ends[i]) <= now_ms then
        gone[#gone + 1] = name
    end
end
--#use member_drop most='16'
local found = call(remove, key, unpack(names))
call('zrem', due, unpack(names))
--#use member_expire
