-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_latch_arrive - count a latch of Redisson down. At 0 it is deleted, and
those that wait are woken.

KEYS[1]  latch (string): the count
ARGV[1]  publish: publish or spublish, a blank, and the channel

Returns  1 counted; 0 there is no latch: it is open, or was never set.
Repeat   no: the second run would count again.
Writes   KEYS[1]. Cost O(subscribers).
]]
local call = redis.call
local number, heard
--#use redisson_number key=KEYS[1]
if not number then
    return 0
end
call('decr', KEYS[1])
--#record
if number > 1 then
    return 1
end
call('del', KEYS[1])
local verb, channel = string.match(ARGV[1], '^(%l+) (.*)$')
--#use redisson_publish message='0'
return 1
