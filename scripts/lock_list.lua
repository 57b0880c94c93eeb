--[[
lock_list - read a key if it may be a lock of Holdfast.

KEYS[1]  key: any key

Returns  {owner, pttl} of a string that begins with what may be an owner id, or
         of readers or permits; 0 for anything else.
Repeat   safe.
Writes   nothing. Cost O(log holders).
]]
local call = redis.call
local size = redis.pcall('strlen', KEYS[1])
if type(size) == 'number' then
    if size ~= 32 and size ~= 33 and size ~= 49 then
        return 0
    end
    local owner = string.match(call('get', KEYS[1]), '^(%x+%-%x+)%+?%d*$')
    return owner and {owner, call('pttl', KEYS[1])} or 0
elseif not string.find(size.err, '^WRONGTYPE') then
    return size
elseif type(redis.pcall('zcard', KEYS[1])) == 'table' then
    return 0
end
--#use find_holder lock=KEYS[1] holder=0
return owner and {owner, pttl} or 0
