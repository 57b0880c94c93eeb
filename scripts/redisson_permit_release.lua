-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_permit_release - give a permit of a semaphore of Redisson back, and say
how many are free.

KEYS[1]  semaphore (string): number of free permits
KEYS[2]  timeouts (zset): ids of held permits, by when they expire, Unix ms
KEYS[3]  unused_waiters: for the form of kinds.h
ARGV[1]  owner: owner id
ARGV[2]  publish: publish or spublish, a blank, and the channel

Returns  1 released, plus the number of clients that listen; 0 the permit had
         expired.
Repeat   safe: owner ids are never used twice, so a second run finds 0.
Lane     lease: acquires may be waiting for it.
Writes   KEYS[1], KEYS[2]. Cost O(log permits + subscribers).
]]
local call = redis.call
--#use clock
local id, timeouts, heard
--#use redisson_permit semaphore=KEYS[1] owner=ARGV[1]
local ends = call('zscore', KEYS[2], id)
if not ends then
    return 0
end
local free = call('incr', KEYS[1])
call('zrem', KEYS[2], id)
local verb, channel = string.match(ARGV[2], '^(%l+) (.*)$')
--#use redisson_publish message=free
return tonumber(ends) > math.floor(clock / 1000) and 1 + heard or 0
