-- SPDX-License-Identifier: Apache-2.0
--[[
queue_pause - give no job of a queue to anyone, or give jobs again.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  waiters (zset): entries by when they began to wait, us
KEYS[3]  items (hash): what is known about the jobs
ARGV[1]  pause: 1; 0: no more

Returns  1 it was changed; 0 it was so. An error WRONGTYPE: the sorted set is
         not of a queue.
Repeat   safe: the second run changes nothing, unless another client has in
         between.
Writes   all keys. Cost O(log jobs + log waiters + jobs moved).
]]
local call = redis.call
--#use queue_open queue=KEYS[1]
local pause = ARGV[1] == '1'
if pause == paused then
    return 0
end
--#use queue_whole items=KEYS[3]
call('zadd', KEYS[1], pause and '9.001e15' or '9e15', '*')
paused = pause
--#use queue_due queue=KEYS[1] items=KEYS[3]
--#use queue_hand queue=KEYS[1] items=KEYS[3] waiters=KEYS[2] own=''
if not pause and call('zcard', KEYS[1]) == 1 then
    call('del', KEYS[1], KEYS[3])
end
return 1
