-- SPDX-License-Identifier: Apache-2.0
--[[
member_drop - remove members of a set or a rank, and some that are due.

remove  command that removes members of the key: 'srem' or 'zrem'
gone    list of members, at most 1000; those that are due are appended
most    most of these
now_ms  the store's clock, ms
key     set or sorted set of members
due     sorted set of members by deadline
]]
for _, member in ipairs(call('zrangebyscore', due, '-inf', now_ms, 'limit', 0,
    most)) do
    gone[#gone + 1] = member
end
if #gone > 0 then
    call(remove, key, unpack(gone))
    call('zrem', due, unpack(gone))
end
