--[[
key_rename - give a key another name, with its value and its expiry.

KEYS[1]  key: of any type
KEYS[2]  new_key: its name afterwards; a key of that name is replaced
ARGV[1]  absent: 1: only if there is no key of the new name; 0

Returns  1 done; 0 there is no such key; -1 there is one of the new name.
Repeat   no: the second run finds no key, or renames another one.
Writes   both keys. Cost O(1).
]]
local call = redis.call
if call('exists', KEYS[1]) == 0 then
    return 0
end
if ARGV[1] == '1' and call('exists', KEYS[2]) == 1 then
    return -1
end
call('rename', KEYS[1], KEYS[2])
return 1
