-- SPDX-License-Identifier: Apache-2.0
--[[
lock_undo - free the lock if the owner holds it: on a server of a quorum, when
the others refused it. A caller that waits is queued again.

KEYS[1]  lock (string): the lock
KEYS[2]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  entry: of the caller in the queue; empty: it does not wait
ARGV[3]  began: when it began to wait, us; 0: now
ARGV[4]  rank: how far to move it forward, us
ARGV[5]  wake: 1: tell the waiter that has waited longest

Returns  1 released; 0 the lock is free; -1 another owner holds it.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: acquires may be waiting for it.
Quorum   count.
Leases   first.
Writes   KEYS[1], KEYS[2]. Cost O(log waiters).
]]
local call = redis.call
local holder = call('get', KEYS[1])
if not holder then
    return 0
elseif string.sub(holder, 1, 32) ~= ARGV[1] then
    return -1
end
call('del', KEYS[1])
if ARGV[2] ~= '' then
    --#use clock
    call('zadd', KEYS[2], (ARGV[3] == '0' and clock or ARGV[3]) - ARGV[4], ARGV[2])
    call('pexpire', KEYS[2], '360000')
end
if ARGV[5] == '1' then
    --#use wake topic=KEYS[1] waiters=KEYS[2]
end
return 1
