-- SPDX-License-Identifier: Apache-2.0
--[[
txn_found - read what condition `i` is about.

command  exists, get, version or hget
key      the key
field    of hget
found    what the command returned
i        number of the condition
]]
if command == 'hget' then
    found = redis.pcall(command, key, field)
elseif command == 'version' then
    found = redis.pcall('get', key)
    found = type(found) == 'string' and redis.sha1hex(found) or found
else
    found = redis.pcall(command, key)
end
if type(found) == 'table' then
    return {err = found.err .. ' [if ' .. i .. ']'}
end
