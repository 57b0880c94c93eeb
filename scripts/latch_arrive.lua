-- SPDX-License-Identifier: Apache-2.0
--[[
latch_arrive - count a latch down, once for each id, and wake all that wait for
it when it opens.

KEYS[1]  latch (hash): `left`, and a field for each arrival
KEYS[2]  waiters (zset): inboxes
ARGV[1]  id: of the arrival, behind a +
ARGV[2]  count: by how much

Returns  the count left, 0: open; -1 there is no latch.
Repeat   safe: an id counts once.
Writes   KEYS[1], KEYS[2]. Cost O(1), and O(waiters) when it opens.
]]
local call = redis.call
--#use latch_left latch=KEYS[1]
if left > 0 and not call('hget', KEYS[1], ARGV[1]) then
    call('hset', KEYS[1], ARGV[1], '')
    left = math.max(left - tonumber(ARGV[2]), 0)
    call('hset', KEYS[1], 'left', left)
    if left == 0 then
        --#use wake_all topic=KEYS[1] waiters=KEYS[2]
    end
end
return left
