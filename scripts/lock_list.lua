--[[
lock_list - read a key if it may be a lock of Holdfast.

KEYS[1]  key: any key

Returns  {owner, pttl, token} of a string that may be a lock, or of readers or
         permits; 0 for anything else. The token is empty if it is unknown.
Repeat   safe.
Writes   nothing. Cost O(log holders).
]]
local call = redis.call
local size = redis.pcall('strlen', KEYS[1])
if type(size) == 'number' then
    if size < 32 or size > 50 then
        return 0
    end
    local value = call('get', KEYS[1])
    --#use lock_owner
    return #owner == 32 and {owner, call('pttl', KEYS[1]), token} or 0
elseif not string.find(size.err, '^WRONGTYPE') then
    return size
elseif type(redis.pcall('zcard', KEYS[1])) == 'table' then
    return 0
end
--#use find_holder lock=KEYS[1] holder=0
return owner and {owner, pttl, ''} or 0
