-- SPDX-License-Identifier: Apache-2.0
--[[
cache_delete - delete a cache entry; a fill under way will not store its value.

KEYS[1]  key: the value
KEYS[2]  meta: what is known about it
KEYS[3]  fill: the token of the fill under way
KEYS[4]  waiters: sorted set of inboxes

Returns  1 deleted; 0 there was none. An error HFHELD: the key is a lock that is
         held.
Repeat   no: the second run would not find what the first deleted.
Writes   all keys. Cost O(waiters).
]]
local call = redis.call
local size = call('strlen', KEYS[1])
--#use refuse_held_string key=KEYS[1]
local known = call('del', KEYS[2])
local found = call('del', KEYS[1])
if call('del', KEYS[3]) == 1 then
    --#use wake_all topic=KEYS[1] waiters=KEYS[4]
end
return math.max(known, found)
