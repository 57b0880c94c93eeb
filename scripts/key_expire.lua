--[[
key_expire - set a key's time to live, and that of the keys that belong to it.

KEYS[1]  key: of any type
KEYS[2...]  belongings: they may be missing
ARGV[1]  ttl: ms

Returns  1 done; 0 there is no such key.
Repeat   safe.
Writes   all keys. Cost O(1).
]]
local done = redis.call('pexpire', KEYS[1], ARGV[1])
for i = 2, #KEYS do
    redis.call('pexpire', KEYS[i], ARGV[1])
end
return done
