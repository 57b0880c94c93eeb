-- SPDX-License-Identifier: Apache-2.0
--[[
key_persist - remove the expiry of a key and of the keys that belong to it.

KEYS[1]  key: of any type
KEYS[2]  barrier (hash): state of a barrier. This and the rest may be left out
KEYS[3...]  belongings: they may be missing

Returns  1 the key exists and does not expire; 0 there is none; it is held: -1 a
         lock, -2 permits, -3 an election, -4 a barrier, -5 a claim.
Repeat   safe.
Writes   all keys but KEYS[2]. Cost O(1).
]]
local call = redis.call
--#use held key=KEYS[1] barrier=KEYS[2]
if held > 0 then
    return -held
end
call('persist', KEYS[1])
for i = 3, #KEYS do
    call('persist', KEYS[i])
end
return kind == 'none' and 0 or 1
