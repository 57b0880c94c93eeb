--[[
key_persist - remove the expiry of a key and of the keys that belong to it, and
say whether the key exists.

KEYS[1]  key: of any type
KEYS[2...]  belongings: they may be missing

Returns  1 the key exists and does not expire; 0 there is none.
Repeat   safe.
Writes   all keys. Cost O(1).
]]
local call = redis.call
call('persist', KEYS[1])
for i = 2, #KEYS do
    call('persist', KEYS[i])
end
return call('exists', KEYS[1])
