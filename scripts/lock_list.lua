--[[
lock_list - read a key if it may be a lock of Holdfast.

KEYS[1]  key: any key

Returns  {owner, pttl} of a string that begins with what may be an owner id; 0
         for anything else.
Repeat   safe.
Writes   nothing. Cost O(1).
]]
local size = redis.pcall('strlen', KEYS[1])
if type(size) == 'table' and not string.find(size.err, '^WRONGTYPE') then
    return size
elseif size ~= 32 and size ~= 33 and size ~= 49 then
    return 0
end
local owner = string.match(redis.call('get', KEYS[1]), '^(%x+%-%x+)%+?%d*$')
return owner and {owner, redis.call('pttl', KEYS[1])} or 0
