-- SPDX-License-Identifier: Apache-2.0
--[[
queue_take - take the first job that is ready, if no one waits for it, and issue
the next fencing token.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
KEYS[4]  items (hash): what is known about the jobs
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if no job is ready; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now,
         and it is not queued
ARGV[5]  rank: how far to move the entry forward, us

Returns  {token, id, payload, how often it was taken, how often at most, order,
         when it was put, ms, group}: the owner has it now. Else {time until a
         job is due or a lease ends, ms, or -1, the owner of the caller, the
         store's clock in us} and, if it was queued, its position in the queue.
         An error HFTOKEN: there is no larger token. An error WRONGTYPE: the
         sorted set is not of a queue.
Repeat   safe: the same owner gets the same job, a larger token, and a lease that
         runs from then. A job whose state is lost is removed.
Writes   all keys. Cost O(log jobs + log waiters + jobs moved). ZREM comes before
         all that maxmemory stops, if there is a job: so a queue that has filled
         a server can be worked off.
]]
local call = redis.call
--#use queue_open queue=KEYS[1]
--#use queue_whole items=KEYS[4]
--#use queue_due queue=KEYS[1] items=KEYS[4]
--#use queue_hand queue=KEYS[1] items=KEYS[4] waiters=KEYS[3] own=ARGV[3]
local held = call('hget', KEYS[4], ARGV[1])
--#use queue_first queue=KEYS[1] items=KEYS[4] holder=ARGV[1]
if order then
    local token
    call('zrem', KEYS[3], ARGV[3])
    --#use issue_token last=KEYS[2]
    if not token then
        --#use no_token
    end
    call('zadd', KEYS[1], clock + ARGV[2] * 1000, ARGV[1])
    if not held or string.sub(held, 1, 1) == '?' then
        tries = tries + 1
        call('hset', KEYS[4], ARGV[1], ':' .. job, '=' .. job, string.format(
            '%s %.0f %s %s %s ', order, tries, most, put, rest) .. group)
    end
    if not held then
        call('zrem', KEYS[1], head)
    end
    return {tonumber(token), job, call('hget', KEYS[4], ':' .. job) or '', tonumber(tries), tonumber(most),
        tonumber(order), tonumber(put), group}
end
local ends = call('zrangebyscore', KEYS[1], '(' .. clock, '(4e15', 'withscores', 'limit', 0, 1)
local due = call('zrangebyscore', KEYS[1], '4e15', '(5e15', 'withscores', 'limit', 0, 1)
local pttl = math.min(ends[2] and math.ceil((ends[2] - clock) / 1000) or 2^53,
    due[2] and due[2] - 4e15 - ms or 2^53)
pttl = pttl < 2^53 and math.max(pttl, 1) or -1
--#use refuse began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3] holder=ARGV[1]
