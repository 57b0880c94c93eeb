-- SPDX-License-Identifier: Apache-2.0
--[[
value_delete - delete a key, but only one that holds a string, with what is
known about it as a cache entry.

KEYS[1]  key (string): the value
KEYS[2]  meta: of a cache entry. This and the rest may be left out
KEYS[3]  stamp: its revision

Returns  1 deleted; 0 there was none; -1 it is a lock that is held; a WRONGTYPE
         error for another type.
Repeat   no: the second run could delete what another client wrote in between.
Writes   all keys. Cost O(1).
]]
local call = redis.call
local size = call('strlen', KEYS[1])
--#use own_lock key=KEYS[1]
if owner then
    return -1
end
local found = call('del', KEYS[1])
if KEYS[2] then
    call('del', KEYS[2], KEYS[3])
end
return found
