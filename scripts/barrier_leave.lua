-- SPDX-License-Identifier: Apache-2.0
--[[
barrier_leave - break a barrier because a party no longer waits, unless its
generation has ended.

KEYS[1]  parties (zset): ids of those that wait, by the end of their leases, us
KEYS[2]  state (hash): generation, parties, passed, failed, last
KEYS[3]  passed (zset): the parties of the last generation that ended
KEYS[4]  waiters (zset): inboxes by when they began to wait, us
ARGV[1]  party: id, unique to this call
ARGV[2]  waits: the generation that it waits in; 0: it does not know

Returns  {1, generation, 1 this party was the last or 0} it has passed; {2,
         generation, 0} it is broken.
Repeat   safe: a party is recognized by its id.
Lane     lease: others wait for a party that will not come.
Writes   KEYS[1], KEYS[2], KEYS[4]. Cost O(parties).
]]
local call = redis.call
--#use barrier_ended parties=KEYS[1] state=KEYS[2] passed=KEYS[3] party=ARGV[1] waits=ARGV[2]
if call('zrem', KEYS[1], ARGV[1]) == 1 then
    call('hset', KEYS[2], 'failed', generation)
    --#use wake_all topic=KEYS[1] waiters=KEYS[4]
end
return {2, generation, 0}
