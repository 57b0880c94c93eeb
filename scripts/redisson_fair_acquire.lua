-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_fair_acquire - take a fair lock of Redisson if it is free and no one
waits before the caller. A waiter counts as dead 10 s after it could have had
the lock, as of its last try; one in Java after its own time.

KEYS[1]  lock (hash): hold count by owner, expiring with the lease
KEYS[2]  timeouts (zset): waiters by when they count as dead, Unix ms
KEYS[3]  queue (list): waiters, the next one first
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: empty: do not queue
ARGV[4]  unused_began: for the form of kinds.h
ARGV[5]  unused_rank: likewise
ARGV[6]  unused_kind: likewise

Returns  the store's clock in us if the owner holds the lock now; else {time
         until that may change in ms, owner, the store's clock in us}.
Repeat   safe: the same owner has its lease again, or its place in the queue.
Writes   KEYS[1], KEYS[2], KEYS[3], the two latter for at most 10 minutes. Cost
         O(waiters).
]]
local call = redis.call
local head, now = nil, call('time')
local now_ms = math.floor(now[1] * 1000 + now[2] / 1000)
now = now[1] * 1000000 + now[2]
--#use redisson_head timeouts=KEYS[2] queue=KEYS[3]
local own = call('hexists', KEYS[1], ARGV[1]) == 1
if own or call('exists', KEYS[1]) == 0
    and (not head or head == ARGV[1]) then
    call('hset', KEYS[1], ARGV[1], 1)
    call('pexpire', KEYS[1], ARGV[2])
    --#use redisson_unqueue timeouts=KEYS[2] queue=KEYS[3] owner=ARGV[1]
    return now
end
--#use redisson_one lock=KEYS[1]
local pttl = call('pttl', KEYS[1])
if ARGV[3] ~= '' then
    local ends = math.max(now_ms, now_ms + pttl)
    local score = call('zscore', KEYS[2], ARGV[1])
    if not score then
        local last = call('zrevrange', KEYS[2], 0, 0, 'withscores')[2]
        call('rpush', KEYS[3], ARGV[1])
        ends = math.max(ends, tonumber(last or 0))
    end
    call('zadd', KEYS[2], math.max(ends + 10000, tonumber(score or 0)), ARGV[1])
    call('pexpire', KEYS[2], 600000)
    call('pexpire', KEYS[3], 600000)
end
if pttl == -2 then
    pttl = call('zscore', KEYS[2], head) - now_ms
end
return {pttl, call('hkeys', KEYS[1])[1] or head, now}
