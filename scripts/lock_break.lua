-- SPDX-License-Identifier: Apache-2.0
--[[
lock_break - take a lock from its holder, or from all who hold it: give it to the
waiter that has waited longest, or free it. A reader, or one that
waits for permits, is notified and asks for it.

KEYS[1]  lock (string): the lock; or a sorted set, of readers or permits; or a lock
         or semaphore of Redisson
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  verb: publish or spublish, of messages of Redisson
ARGV[2]  redisson: 1: fail if it is no lock of Redisson

Returns  1 it was held; 0 it was free.
Repeat   no: it could break the lock of the next holder.
Quorum   any.
Leases   first.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(holders + log waiters).
]]
local call = redis.call
local holder, reply, shared = redis.pcall('get', KEYS[1])
--#use redisson_look lock=KEYS[1] only=ARGV[2]
if not holder then
    return 0
elseif owners[1] then
    --#use redisson_free lock=KEYS[1] verb=ARGV[1]
    return 1
elseif type(holder) == 'table' then
    --#use find_holder lock=KEYS[1]
    if not owner then
        return 0
    end
    call('zremrangebyscore', KEYS[1], '-inf', '(-1e12')
    call('zremrangebyscore', KEYS[1], '(0', '+inf')
    call('zrem', KEYS[1], '+')
    shared = sort == 2
end
if not shared then
    --#use hand_over lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own='' note=''
end
if shared then
    local turn
    --#use ask_head topic=KEYS[1] waiters=KEYS[3] own='' since=math.huge pop=nil
end
return 1
