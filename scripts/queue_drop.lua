-- SPDX-License-Identifier: Apache-2.0
--[[
queue_drop - remove a job that no one has taken, or a dead letter.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  waiters (zset): entries by when they began to wait, us
KEYS[3]  items (hash): what is known about the jobs
ARGV[1]  id: of the job

Returns  1 it was removed; 0 there is no such job; -1 someone has it. An error
         WRONGTYPE: the sorted set is not of a queue.
Repeat   no: the second run would remove another job that was put by that id.
Writes   all keys. Cost O(log jobs + log waiters + jobs moved). ZREM comes first:
         a script that has written is not stopped by maxmemory.
]]
local call = redis.call
local job = ARGV[1]
--#use queue_open queue=KEYS[1]
--#use queue_whole items=KEYS[3]
--#use queue_due queue=KEYS[1] items=KEYS[3]
local state = call('hget', KEYS[3], '=' .. job)
local kind = math.floor((call('zscore', KEYS[1], ':' .. job) or 0) / 1e15)
local dropped = not state and 0 or kind == 0 and -1 or kind ~= 5 and 1 or 0
if dropped == 1 then
    call('zrem', KEYS[1], ':' .. job)
    if kind == 8 then
        --#use queue_unlink items=KEYS[3]
    elseif kind ~= 6 then
        --#use queue_next queue=KEYS[1] items=KEYS[3]
    end
    call('hdel', KEYS[3], '=' .. job, ':' .. job)
end
--#use queue_hand queue=KEYS[1] items=KEYS[3] waiters=KEYS[2] own=''
--#use queue_clear queue=KEYS[1] items=KEYS[3]
return dropped
