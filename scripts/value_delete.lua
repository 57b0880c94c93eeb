--[[
value_delete - delete a key, but only one that holds a string.

KEYS[1]  key (string): the value

Returns  1 deleted; 0 there was none; a WRONGTYPE error for another type.
Repeat   no: the second run could delete what another client wrote in between.
Writes   KEYS[1]. Cost O(1).
]]
redis.call('strlen', KEYS[1])
return redis.call('del', KEYS[1])
