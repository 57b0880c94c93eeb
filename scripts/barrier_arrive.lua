-- SPDX-License-Identifier: Apache-2.0
--[[
barrier_arrive - arrive at a barrier or renew the lease of a party that waits
there, and let all pass if it is the last.

KEYS[1]  parties (zset): ids of those that wait, by the end of their leases, us
KEYS[2]  state (hash): generation, parties, passed and failed (the last
         generations that did), last
KEYS[3]  passed (zset): the parties of the last generation that ended
KEYS[4]  waiters (zset): inboxes by when they began to wait, us
ARGV[1]  party: id, unique to this call
ARGV[2]  waits: the generation that it waits in; 0: it does not know
ARGV[3]  ttl: of the lease, ms
ARGV[4]  count: of the parties
ARGV[5]  inbox: to wake when the generation ends

Returns  {0, generation, how many wait}; {1, generation, 1 this party was the
         last or 0} it has passed; {2, generation, 0} it is broken; {3,
         generation, count of the parties} it is another. An error WRONGTYPE:
         it is not a barrier.
Repeat   safe: a party is recognized by its id.
Writes   all keys. Cost O(log parties), and O(parties) when they pass.
]]
local call = redis.call
--#use barrier_ended parties=KEYS[1] state=KEYS[2] passed=KEYS[3] party=ARGV[1] waits=ARGV[2]
local now = call('time')
now = now[1] * 1000000 + now[2]
local count = call('hget', KEYS[2], 'parties')
local waiting = call('zcard', KEYS[1])
--#use refuse_no_barrier parties=KEYS[1]
if count and waiting > 0 and count ~= ARGV[4] then
    return {3, generation, tonumber(count)}
end
if generation == 0 then
    generation = 1
end
if call('zrangebyscore', KEYS[1], '-inf', now, 'limit', 0, 1)[1] then
    call('hset', KEYS[2], 'failed', generation, 'generation', generation)
    --#use wake_all topic=KEYS[1] waiters=KEYS[4]
end
if tonumber(call('hget', KEYS[2], 'failed') or 0) == generation then
    return {2, generation, 0}
end
call('hset', KEYS[2], 'generation', generation, 'parties', ARGV[4])
call('pexpire', KEYS[2], 604800000)
call('zadd', KEYS[1], now + tonumber(ARGV[3]) * 1000, ARGV[1])
waiting = call('zcard', KEYS[1])
if waiting < tonumber(ARGV[4]) then
    call('pexpire', KEYS[1], math.max(ARGV[3], call('pttl', KEYS[1])))
    call('zadd', KEYS[4], now, ARGV[5])
    call('pexpire', KEYS[4], 360000)
    return {0, generation, waiting}
end
call('rename', KEYS[1], KEYS[3])
call('pexpire', KEYS[3], 600000)
call('hset', KEYS[2], 'generation', generation + 1, 'passed', generation,
    'last', ARGV[1])
--#use wake_all topic=KEYS[1] waiters=KEYS[4]
return {1, generation, 1}
