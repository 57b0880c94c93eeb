-- SPDX-License-Identifier: Apache-2.0
--[[
semaphore_acquire - take permits if enough are free and no one waits, and issue
the next fencing token.

KEYS[1]  semaphore (zset): owner ids by the end of their leases, us
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if too few permits are free; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now,
         and it is not queued
ARGV[5]  rank: how far to move the entry forward, us
ARGV[6]  permits: how many there are, unless that is stored; 0: it is. Then a
         slash and how many of them to take, if more than one

Returns  the token if the owner holds its permits now; else {time until the
         first lease ends, ms, its owner, the store's clock in us} and, if it
         was queued, its position in the queue. An error HFTOKEN, and no permit
         is taken: there is no larger token. An error HFINVALID: there are not
         so many. An error WRONGTYPE: the sorted set is not of a semaphore.
Repeat   safe: the same owner gets a larger token, and a lease that runs from
         then.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log permits + log waiters + expired
         permits).
]]
local call = redis.call
--#use clock
local ttl, held, more, size, token = tonumber(ARGV[2])
local limit, weight = string.match(ARGV[6], '^(%d+)/?(%d*)$')
--#use count_permits semaphore=KEYS[1]
limit, weight = size or tonumber(limit), tonumber(weight) or 1
local since = (ARGV[4] == '0' and clock or ARGV[4]) - ARGV[5]
local queued, turn = call('exists', KEYS[3]) == 1, true
local own = (queued or weight > 1 or held >= limit)
    and tonumber(call('zscore', KEYS[1], ARGV[1]) or 0) > tonumber(clock)
if weight > limit and not own then
    return redis.error_reply('HFINVALID the semaphore has ' .. limit .. ' permits')
end
if queued and not own and held + weight <= limit then
    --#use ask_head topic=KEYS[1] waiters=KEYS[3] own=ARGV[3] pop=ARGV[4]~='0'and(clock-ARGV[4]>5e5)
end
if own or turn and held + weight <= limit then
    --#use issue_token last=KEYS[2]
    if not token then
        --#use no_token
    end
    local ends = clock + ttl * 1000
    if own then
        call('zadd', KEYS[1], weight > 1 and ends + 0.5 or ends, ARGV[1])
    else
        --#use take_permits semaphore=KEYS[1] owner=ARGV[1]
    end
    call('zremrangebyscore', KEYS[1], '(1e12', clock)
    if not size then
        call('pexpire', KEYS[1], math.max(ttl, left))
    end
    if queued then
        call('zrem', KEYS[3], ARGV[3])
        --#use ask_head topic=KEYS[1] waiters=KEYS[3] own='' since=math.huge pop=nil
    end
    return tonumber(token)
end
local first = call('zrangebyscore', KEYS[1], clock, '+inf', 'withscores', 'limit', 0, 1)
local holder, pttl = first[1] or '', math.ceil(((first[2] or clock) - clock) / 1000)
--#use refuse began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3]
