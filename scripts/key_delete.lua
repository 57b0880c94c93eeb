-- SPDX-License-Identifier: Apache-2.0
--[[
key_delete - delete a key with the keys that belong to it. The highest fencing
token stays.

KEYS[1]  key: of any type
KEYS[2]  barrier (hash): state of a barrier. This and the rest may be left out
KEYS[3]  fill: of a cache entry: the token of the fill under way
KEYS[4]  waiters (zset): inboxes of those that wait for a fill, at a latch
KEYS[5]  cache: belongs to a cache entry
KEYS[6...]  belongings: of a timeline, a value

Returns  1 deleted; 0 there is no such key; it is held: -1 a lock, -2 permits,
         -3 an election, -4 a barrier, -5 a claim.
Repeat   no: the second run could delete what another client wrote in between.
Writes   all keys. Cost O(elements + waiters).
]]
local call = redis.call
--#use held key=KEYS[1] barrier=KEYS[2]
if held > 0 then
    return -held
end
local found = call('del', KEYS[1])
if KEYS[2] then
    found = math.max(found, call('del', KEYS[5]))
    call('del', KEYS[3], unpack(KEYS, 6))
    --#use wake_all topic=KEYS[1] waiters=KEYS[4]
end
return found
