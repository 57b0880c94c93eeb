-- SPDX-License-Identifier: Apache-2.0
--[[
latch_set - make a latch, unless there is one, and wake those that wait for that.

KEYS[1]  latch (hash): `left`, and a field for each arrival
KEYS[2]  waiters (zset): inboxes
ARGV[1]  count: arrivals until it opens
ARGV[2]  ttl: time to live of the latch, ms
ARGV[3]  id: of the call, unique

Returns  {1, count} if this call made it; {0, count left} if there was one.
Repeat   safe: the latch has the id of the call that made it.
Writes   KEYS[1], KEYS[2]. Cost O(waiters).
]]
local call = redis.call
--#use latch_left latch=KEYS[1]
if left >= 0 then
    local made = call('hget', KEYS[1], 'set') == ARGV[3]
    return {made and 1 or 0, left}
end
call('hset', KEYS[1], 'left', ARGV[1], 'set', ARGV[3])
call('pexpire', KEYS[1], ARGV[2])
--#use wake_all topic=KEYS[1] waiters=KEYS[2]
return {1, tonumber(ARGV[1])}
