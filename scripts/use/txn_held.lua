-- SPDX-License-Identifier: Apache-2.0
--[[
txn_held - set `found` to '1' if a lease is held: by an owner, or with a token.
An election is a hash, and so are a claim and a lock of Redisson; a lock that is read or a
semaphore is a sorted set, whose readers' deadlines are negative. A writer that
has downgraded is a reader with the same owner id, so which it is to be is said.

command  held: alone; shared: by a reader, or a permit; token
key      of any type
field    the owner id, or the token
]]
local kind, mine = call('type', key).ok
if kind == 'string' and command ~= 'shared' then
    local value = call('get', key)
    --#use lock_owner
    mine = field == (command == 'held' and owner or token)
elseif kind == 'hash' and command == 'held' then
    local owners = call('hmget', key, 'owner', field, field .. ':write', 'claim', 'until')
    --#use clock
    mine = owners[1] == field or owners[2] or owners[3]
        or owners[4] == field and (tonumber(owners[5]) or 0) > tonumber(clock)
elseif kind == 'hash' and command == 'token' then
    local terms = call('hmget', key, 'term', 'token', 'until', 'keep')
    --#use clock
    mine = terms[1] == field
        or terms[2] == field and terms[4] and (tonumber(terms[3]) or 0) > tonumber(clock)
elseif kind == 'zset' and command == 'shared' then
    --#use clock
    mine = math.abs(tonumber(call('zscore', key, field)) or 0) > tonumber(clock)
end
found = mine and '1'
