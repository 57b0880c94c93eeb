-- SPDX-License-Identifier: Apache-2.0
--[[
queue_inspect - how many jobs of a queue are in which state.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  waiters (zset): entries by when they began to wait, us

Returns  {jobs that are ready, taken, delayed, behind others of their groups,
         dead letters, ids remembered of jobs that are done, waiters, 1 if it is
         paused}. A job whose lease has ended, or that is due, is ready. An error
         WRONGTYPE: the sorted set is not of a queue.
Repeat   safe.
Writes   nothing. Cost O(log jobs).
]]
local call = redis.call
--#use queue_open queue=KEYS[1]
local due = string.format('%.0f', 4e15 + ms)
return {
    call('zcount', KEYS[1], '7e15', '(8e15') + call('zcount', KEYS[1], '1', clock)
        + call('zcount', KEYS[1], '4e15', due),
    call('zcount', KEYS[1], '(' .. clock, '(4e15'),
    call('zcount', KEYS[1], '(' .. due, '(5e15'),
    call('zcount', KEYS[1], '8e15', '(9e15'),
    call('zcount', KEYS[1], '6e15', '(7e15'),
    call('zcount', KEYS[1], string.format('(%.0f', 5e15 + ms), '(6e15'),
    call('zcard', KEYS[2]),
    paused and 1 or 0
}
