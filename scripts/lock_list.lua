-- SPDX-License-Identifier: Apache-2.0
--[[
lock_list - read a key if it may be a lock of Holdfast.

KEYS[1]  key: any key

Returns  as lock_holders; an empty list if the key is none.
Repeat   safe.
Writes   nothing. Cost O(holders).
]]
local call = redis.call
local size = redis.pcall('strlen', KEYS[1])
if type(size) == 'number' then
    if size < 32 or size > 50 then
        return {}
    end
    local value = call('get', KEYS[1])
    --#use lock_owner
    return #owner == 32 and {owner, call('pttl', KEYS[1]), 1, token} or {}
elseif not string.find(size.err, '^WRONGTYPE') then
    return size
elseif type(redis.pcall('zcard', KEYS[1])) == 'table' then
    return {}
end
--#use list_holders lock=KEYS[1] holder={} limit='100000'
return list
