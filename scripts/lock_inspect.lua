-- SPDX-License-Identifier: Apache-2.0
--[[
lock_inspect - who holds a lock, for how long, and how many wait.

KEYS[1]  lock (string): the lock; or a sorted set, of readers or permits; or a lock
         or semaphore of Redisson
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  redisson: 1: fail if it is no lock of Redisson. May be left out

Returns  {owner or nil, pttl, last token or nil, count of waiters, us since it
         was acquired if that was after a wait, or -1, how many hold it, 0: it
         is a lock, 1: they read, 2: they hold permits, the owner's token,
         empty if it is unknown, and 1 if it is of Redisson}.
Repeat   safe.
Quorum   read.
Writes   nothing. Cost O(log holders); of Redisson O(holders).
]]
local call = redis.call
local last, holder = redis.pcall('get', KEYS[2]), redis.pcall('get', KEYS[1])
last = type(last) ~= 'table' and last
--#use redisson_look lock=KEYS[1] only=ARGV[1]
if owners[1] or ARGV[1] == '1' then
    local queue = redis.pcall('llen', 'redisson_lock_queue:' .. braced)
    return {owners[1] or false, lefts[1] or -2, fence ~= '' and fence or last,
        tonumber(queue) or 0, -1, #owners, sort, fence, 1}
end
local waiters = call('zcard', KEYS[3])
if type(holder) == 'table' then
    --#use find_holder lock=KEYS[1]
    return {owner, pttl, last, waiters, -1, call('zcount', KEYS[1], low, high),
        sort, ''}
end
--#use lock_owner value=holder
--#use clock
return {
    owner,
    call('pttl', KEYS[1]),
    last,
    waiters,
    sign == ':' and math.max(clock - token, 0) or -1,
    owner and 1 or 0,
    0,
    token
}
