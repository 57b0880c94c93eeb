-- SPDX-License-Identifier: Apache-2.0
--[[
key_expire - set a key's time to live, and that of the keys that belong to it.

KEYS[1]  key: of any type
KEYS[2]  barrier (hash): state of a barrier. This and the rest may be left out
KEYS[3...]  belongings: they may be missing
ARGV[1]  ttl: ms

Returns  1 done; 0 there is no such key; it is held: -1 a lock, -2 permits, -3
         an election, -4 a barrier, -5 a claim.
Repeat   safe.
Writes   all keys but KEYS[2]. Cost O(1).
]]
local call = redis.call
--#use held key=KEYS[1] barrier=KEYS[2]
if held > 0 then
    return -held
end
for i = 3, #KEYS do
    call('pexpire', KEYS[i], ARGV[1])
end
return call('pexpire', KEYS[1], ARGV[1])
