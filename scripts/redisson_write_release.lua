-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_write_release - release a write lock of Redisson and wake all that wait
for it.

KEYS[1]  lock (hash): mode, and hold count by owner
KEYS[2]  unused_token: for the form of kinds.h
KEYS[3]  unused_waiters: likewise
ARGV[1]  owner: owner id
ARGV[2]  publish: publish or spublish, a blank, and the channel of the lock

Returns  1 released, plus the number of clients that listen; 0 the lock is free;
         -1 another owner holds it.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: acquires may be waiting for it.
Writes   KEYS[1]. Cost O(subscribers).
]]
local call = redis.call
if call('hexists', KEYS[1], ARGV[1] .. ':write') == 0 then
    return -call('exists', KEYS[1])
end
call('del', KEYS[1])
local heard
local verb, channel = string.match(ARGV[2], '^(%l+) (.*)$')
--#use redisson_publish message='1'
return 1 + heard
