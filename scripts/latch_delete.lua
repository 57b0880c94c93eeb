-- SPDX-License-Identifier: Apache-2.0
--[[
latch_delete - remove a latch, and wake all that wait for it.

KEYS[1]  latch (hash): the latch
KEYS[2]  waiters (zset): inboxes

Returns  1 removed; 0 there was none.
Repeat   no: a second run could remove one that was made meanwhile.
Writes   KEYS[1], KEYS[2]. Cost O(arrivals + waiters).
]]
local call = redis.call
--#use latch_left latch=KEYS[1]
if left < 0 then
    return 0
end
call('del', KEYS[1])
--#use wake_all topic=KEYS[1] waiters=KEYS[2]
return 1
