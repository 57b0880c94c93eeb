-- SPDX-License-Identifier: Apache-2.0
--[[
member_open - before a write of a set or a rank. Sets `fresh`: it is not there;
the deadlines of one that another program has deleted are removed then; and
`had`: how many members have deadlines. Nothing is removed where nothing is: a server
with too little memory refuses only the first write.

count  command that counts the members of the key: 'scard' or 'zcard'
key    set or sorted set of members
due    sorted set of members by deadline
]]
local fresh, had = call(count, key) == 0, 0
if not fresh then
    had = call('zcard', due)
elseif call('exists', due) == 1 then
    call('del', due)
end
