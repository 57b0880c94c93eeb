--[[
hash_delete - delete a key, but only one that holds a hash.

KEYS[1]  key (hash): the hash

Returns  1 deleted; 0 there was none; a WRONGTYPE error for another type.
Repeat   no: the second run could delete what another client wrote in between.
Writes   KEYS[1]. Cost O(fields).
]]
redis.call('hlen', KEYS[1])
return redis.call('del', KEYS[1])
