--[[
key_rename - give a key another name, with its value, its expiry and the keys
that belong to it. Both names keep the highest fencing token of either.

KEYS[1]  key: of any type
KEYS[2]  new_key: its name afterwards; a key of that name is replaced
KEYS[3]  fence (string): of the key. This and the rest may be left out
KEYS[4]  new_fence (string): of the new one
KEYS[5]  cache: belongs to a cache entry
KEYS[6]  new_cache: its name afterwards
KEYS[7]  items: belongs to a timeline
KEYS[8]  new_items: its name afterwards
KEYS[9]  labels: belongs to a timeline
KEYS[10]  new_labels: its name afterwards
KEYS[11]  due: belongs to a timeline
KEYS[12]  new_due: its name afterwards
KEYS[13]  order: belongs to a timeline
KEYS[14]  new_order: its name afterwards
ARGV[1]  absent: 1: only if there is no key of the new name; 0

Returns  1 done; 0 there is no such key; -1 there is one of the new name; -2 it
         is a lock that is held.
Repeat   no: the second run finds no key, or renames another one.
Writes   all keys. Cost O(1).
]]
local call = redis.call
local value = redis.pcall('get', KEYS[1])
if not value then
    return 0
elseif ARGV[1] == '1' and call('exists', KEYS[2]) == 1 then
    return -1
elseif type(value) == 'string' and string.find(value, '^%x+%-%x+%+?%d*$')
        and #string.match(value, '^[%x-]+') == 32 then
    return -2
end
local highest = KEYS[3] and call('get', KEYS[3])
local other = highest and call('get', KEYS[4])
call('rename', KEYS[1], KEYS[2])
if highest and (tonumber(other or 0) or 2^53) < (tonumber(highest) or 2^53) then
    --#use raise_fence fence=KEYS[4] token=highest
end
if KEYS[5] then
    --#use move from=KEYS[5] to=KEYS[6]
    --#use move from=KEYS[7] to=KEYS[8]
    --#use move from=KEYS[9] to=KEYS[10]
    --#use move from=KEYS[11] to=KEYS[12]
    --#use move from=KEYS[13] to=KEYS[14]
end
return 1
