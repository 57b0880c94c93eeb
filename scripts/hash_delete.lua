-- SPDX-License-Identifier: Apache-2.0
--[[
hash_delete - delete a key, but only one that holds a hash.

KEYS[1]  key (hash): the hash

Returns  1 deleted; 0 there was none; a WRONGTYPE error for another type. An
         error HFHELD: it is a lease that is held.
Repeat   no: the second run could delete what another client wrote in between.
Writes   KEYS[1]. Cost O(fields).
]]
local call = redis.call
call('hlen', KEYS[1])
if call('pttl', KEYS[1]) >= 0 then
    --#use refuse_held key=KEYS[1] barrier=nil
end
return call('del', KEYS[1])
