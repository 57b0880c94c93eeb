-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_semaphore_release - add permits to a semaphore of Redisson, and wake
those that wait.

KEYS[1]  semaphore (string): number of free permits
ARGV[1]  permits: how many; negative: take them away, even below 0
ARGV[2]  publish: publish or spublish, a blank, and the channel

Returns  1 added, plus the number of clients that listen.
Repeat   no: the second run would add again.
Writes   KEYS[1]. Cost O(subscribers).
]]
local call = redis.call
local number, heard
--#use redisson_number key=KEYS[1]
call('incrby', KEYS[1], ARGV[1])
--#record
if tonumber(ARGV[1]) < 0 then
    return 1
end
number = (number or 0) + tonumber(ARGV[1])
local verb, channel = string.match(ARGV[2], '^(%l+) (.*)$')
--#use redisson_publish message=number
return 1 + heard
