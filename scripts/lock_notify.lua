-- SPDX-License-Identifier: Apache-2.0
--[[
lock_notify - notify the waiter that has waited longest: the lease that it waits
for ends sooner than it knows, so it asks when.

KEYS[1]  lock: the lock, the readers or the permits
KEYS[2]  waiters (zset): entries by when they began to wait, us

Returns  1
Repeat   safe: it asks twice.
Lane     lease: others wait.
Quorum   any.
Writes   KEYS[2]. Cost O(log waiters).
]]
local call = redis.call
local turn
--#use ask_head topic=KEYS[1] waiters=KEYS[2] own='' since=math.huge pop=nil
return 1
