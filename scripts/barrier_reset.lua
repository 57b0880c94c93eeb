-- SPDX-License-Identifier: Apache-2.0
--[[
barrier_reset - end the generation of a barrier: all that wait find it broken,
and the next one begins.

KEYS[1]  parties (zset): ids of those that wait, by the end of their leases, us
KEYS[2]  state (hash): generation, parties, passed, failed, last
KEYS[3]  passed (zset): the parties of the last generation that ended
KEYS[4]  waiters (zset): inboxes by when they began to wait, us

Returns  the generation that begins; 0 there is no barrier. An error WRONGTYPE:
         it is not a barrier.
Repeat   no: a second run would break the next generation.
Writes   all keys. Cost O(parties).
]]
local call = redis.call
local waiting = call('zcard', KEYS[1])
--#use refuse_no_barrier parties=KEYS[1]
local generation = tonumber(call('hget', KEYS[2], 'generation') or 0)
if generation == 0 then
    return 0
end
call('hset', KEYS[2], 'failed', generation, 'generation', generation + 1)
call('del', KEYS[3])
if waiting > 0 then
    call('rename', KEYS[1], KEYS[3])
    call('pexpire', KEYS[3], 600000)
end
--#use wake_all topic=KEYS[1] waiters=KEYS[4]
return generation + 1
