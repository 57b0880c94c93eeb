-- SPDX-License-Identifier: Apache-2.0
--[[
queue_release - a job is done, or goes back to the queue, and those that have
waited longest are given what is ready.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  items (hash): what is known about the jobs
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  leave: entry of the caller, which stops waiting; empty: it did not
         wait. This and the rest may be left out
ARGV[3]  outcome: done; again: it is tried again, unless it was as often as it
         may be; dead: it is a dead letter; empty: it goes back as if it had not
         been taken
ARGV[4]  delay: how long it is not given to anyone, ms
ARGV[5]  job: its id. If the owner has another, which a take that came late has
         given to it after its lease, that goes back as if it had not been taken

Returns  1 released; 0 the lease had ended, and the job went back.
Repeat   safe: owner ids are never used twice, so a second run finds 0.
Lane     lease: others may be waiting for it.
Writes   all keys. Cost O(log jobs + log waiters + jobs moved). ZREM comes first:
         a script that has written is not stopped by maxmemory.
]]
local call = redis.call
if (ARGV[2] or '') ~= '' then
    call('zrem', KEYS[3], ARGV[2])
end
--#use queue_open queue=KEYS[1]
--#use queue_whole items=KEYS[2]
--#use queue_settle queue=KEYS[1] items=KEYS[2] holder=ARGV[1] what=ARGV[3] delay=ARGV[4] named=ARGV[5]
--#use queue_due queue=KEYS[1] items=KEYS[2]
--#use queue_hand queue=KEYS[1] items=KEYS[2] waiters=KEYS[3] own=''
--#use queue_clear queue=KEYS[1] items=KEYS[2]
return settled and 1 or 0
