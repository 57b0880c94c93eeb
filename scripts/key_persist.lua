--[[
key_persist - remove a key's expiry, and say whether the key exists.

KEYS[1]  key: of any type

Returns  1 the key exists and does not expire; 0 there is none.
Repeat   safe.
Writes   KEYS[1]. Cost O(1).
]]
if redis.call('persist', KEYS[1]) == 1 then
    return 1
end
return redis.call('exists', KEYS[1])
