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
ARGV[6]  ended: owner id of a job that is ended first. This and the rest may be
         left out
ARGV[7]  outcome: as of queue_release, and so are delay and job
ARGV[8]  delay: how long it is not given to anyone, ms
ARGV[9]  job: its id

Returns  {token, id, payload, how often it was taken, how often at most, order,
         when it was put, ms, group}: the owner has it now. Else {time until a
         job is due or a lease ends, ms, or -1, the owner of the caller, the
         store's clock in us} and, if it was queued, its position in the queue.
         {-1, '', the clock}: the lease of what was to be ended had ended, and
         that job went back; nothing was taken.
         An error HFTOKEN: there is no larger token. An error WRONGTYPE: the
         sorted set is not of a queue.
Repeat   safe: the same owner gets the same job, a larger token, and a lease that
         runs from then; what was to be ended was, if it has one. A job whose state
         is lost, or whose id is too long, is removed.
Writes   all keys. Cost O(log jobs + log waiters + jobs moved). ZREM comes before
         all that maxmemory stops, if there is a job: so a queue that has filled
         a server can be worked off.
]]
local call = redis.call
--#use queue_open queue=KEYS[1]
--#use queue_whole items=KEYS[4]
local late = false
if ARGV[6] and not call('hget', KEYS[4], ARGV[1]) then
    --#use queue_settle queue=KEYS[1] items=KEYS[4] holder=ARGV[6] what=ARGV[7] delay=ARGV[8] named=ARGV[9]
    late = not settled
end
--#use queue_due queue=KEYS[1] items=KEYS[4]
--#use queue_hand queue=KEYS[1] items=KEYS[4] waiters=KEYS[3] own=ARGV[3]
local held = call('hget', KEYS[4], ARGV[1])
if late and not held then
    return {-1, '', tonumber(clock)}
end
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
--#use queue_clear queue=KEYS[1] items=KEYS[4]
--#use queue_soon queue=KEYS[1]
--#use refuse began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3] holder=ARGV[1]
