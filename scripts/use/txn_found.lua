-- SPDX-License-Identifier: Apache-2.0
--[[
txn_found - read what condition `i` is about.

command  exists, get, version, hget, fence, or of txn_held
key      the key
field    of hget, or of txn_held; of fence the token
found    what the command returned; of fence and txn_held '1' if it is so
i        number of the condition
]]
if command == 'hget' then
    found = redis.pcall(command, key, field)
elseif command == 'version' then
    found = redis.pcall('get', key)
    found = type(found) == 'string' and redis.sha1hex(found) or found
elseif command == 'exists' or command == 'get' then
    found = redis.pcall(command, key)
elseif command == 'fence' then
    found = redis.pcall('get', key) or '1'
    if type(found) == 'string' then
        local highest = string.find(found, '^[1-9]%d*$') and tonumber(found)
        found = (highest or 2 ^ 53) <= tonumber(field) and '1'
    end
else
    --#use txn_held
end
if type(found) == 'table' then
    return {err = found.err .. ' [if ' .. i .. ']'}
end
