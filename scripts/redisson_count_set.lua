-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_count_set - give a latch or semaphore of Redisson its number, unless it
has one, and wake those that wait.

KEYS[1]  key (string): the number
ARGV[1]  count: the number
ARGV[2]  message: what its waiters expect
ARGV[3]  publish: publish or spublish, a blank, and the channel

Returns  1 set; 0 there was one.
Repeat   no: the second run would find the number that the first has set.
Writes   KEYS[1]. Cost O(subscribers).
]]
local call = redis.call
local number, heard
--#use redisson_number key=KEYS[1]
if number then
    return 0
end
call('set', KEYS[1], ARGV[1])
--#record
local verb, channel = string.match(ARGV[3], '^(%l+) (.*)$')
--#use redisson_publish message=ARGV[2]
return 1
