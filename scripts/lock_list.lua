--[[
lock_list - read a key if it may be a lock of Holdfast.

KEYS[1]  key: any key
ARGV[1]  size: of an owner id, bytes

Returns  {value, pttl} of a string of that size; 0 for anything else.
Repeat   safe.
Writes   nothing. Cost O(1).
]]
local size = redis.pcall('strlen', KEYS[1])
if type(size) == 'table' and not string.find(size.err, '^WRONGTYPE') then
    return size
elseif size ~= tonumber(ARGV[1]) then
    return 0
end
return {redis.call('get', KEYS[1]), redis.call('pttl', KEYS[1])}
