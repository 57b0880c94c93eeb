-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_read_release - release a read lock of Redisson. The last one, and one
after which only dead readers remain, frees the lock and wakes a waiter.

KEYS[1]  lock (hash): mode, and hold count by owner
KEYS[2]  unused_token: for the form of kinds.h
KEYS[3]  unused_waiters: likewise
ARGV[1]  owner: owner id
ARGV[2]  publish: publish or spublish, a blank, and the channel of the lock

Returns  1 released, plus the number of clients that listen if it is free now; 0
         the lock was free; -1 other owners hold it.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: acquires may be waiting for it.
Writes   KEYS[1], the key of the reader. Cost O(readers and their holds, up to
         1000 of each).
]]
local call = redis.call
if call('hdel', KEYS[1], ARGV[1]) == 0 then
    return -call('exists', KEYS[1])
end
local longest, timeout, heard = 0, nil, nil
--#use redisson_timeout lock=KEYS[1] owner=ARGV[1]
call('del', timeout .. '1')
local fields = call('hgetall', KEYS[1])
for at = 1, #fields, 2 do
    local owner = fields[at]
    for i = 1, math.min(tonumber(fields[at + 1]) or 0, 1000) do
        --#use redisson_timeout lock=KEYS[1]
        longest = math.max(longest, call('pttl', timeout .. i))
    end
end
if longest > 0 then
    call('pexpire', KEYS[1], longest)
    return 1
elseif call('hget', KEYS[1], 'mode') == 'write' then
    return 1
end
call('del', KEYS[1])
local verb, channel = string.match(ARGV[2], '^(%l+) (.*)$')
--#use redisson_publish message='0'
return 1 + heard
