-- SPDX-License-Identifier: Apache-2.0
--[[
member_expire - make a set or a rank expire with its last member; not at all
while one has no deadline.

count  command that counts the members of the key: 'scard' or 'zcard'
had    how many deadlines there were before: with none, then and now, the key
       keeps its expiry
key    set or sorted set of members
due    sorted set of members by deadline
]]
local last = call('zrevrange', due, 0, 0, 'withscores')[2]
if last and call('zcard', due) >= call(count, key) then
    call('pexpireat', key, last)
    call('pexpireat', due, last)
elseif last or had > 0 then
    call('persist', key)
    call('persist', due)
end
