-- SPDX-License-Identifier: Apache-2.0
--[[
queue_put - put a job into a queue, unless it has one with that id.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  waiters (zset): entries by when they began to wait, us
KEYS[3]  items (hash): what is known about the jobs
ARGV[1]  id: of the job
ARGV[2]  payload: of the job
ARGV[3]  delay: how long it is not given to anyone, ms
ARGV[4]  priority: 0..9
ARGV[5]  attempts: how often it is taken at most; 0: no limit
ARGV[6]  remember: how long the id is refused from now on, ms, even if the job is
         done
ARGV[7]  group: of which one job at a time is taken; empty: none

Returns  1 it was put; 0 there is a job with that id, or it is remembered. An
         error WRONGTYPE: the sorted set is not of a queue.
Repeat   no: another client may have done the job in between.
Writes   all keys. Cost O(log jobs + log waiters + jobs moved).
]]
local call = redis.call
local job = ARGV[1]
--#use queue_open queue=KEYS[1]
--#use queue_whole items=KEYS[3]
local till = tonumber(call('zscore', KEYS[1], ':' .. job) or 0)
if call('hget', KEYS[3], '=' .. job) and not (till >= 5e15 and till <= 5e15 + ms) then
    return 0
end
local order = (9 - ARGV[4]) * 1e13 + call('hincrby', KEYS[3], '#', 1)
local due = tonumber(ARGV[3]) > 0 and ms + ARGV[3] or 0
local state = string.format('%.0f 0 %s %.0f %.0f %.0f ', order, ARGV[5], ms, due,
    tonumber(ARGV[6]) > 0 and ms + ARGV[6] or 0) .. ARGV[7]
call('hset', KEYS[3], '=' .. job, state, ':' .. job, ARGV[2])
--#use queue_enter queue=KEYS[1] items=KEYS[3] group=ARGV[7]
if not mark then
    call('zadd', KEYS[1], '9e15', '*')
end
--#record
--#use queue_due queue=KEYS[1] items=KEYS[3]
--#use queue_hand queue=KEYS[1] items=KEYS[3] waiters=KEYS[2] own=''
return 1
