-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_count_read - the number that a latch or semaphore of Redisson holds.

KEYS[1]  key (string): the number
ARGV[1]  unused_inbox: for the form of waiting.h

Returns  the number; 0 if there is no key.
Repeat   safe.
Writes   nothing. Cost O(1).
]]
local call = redis.call
local number
--#use redisson_number key=KEYS[1]
return number or 0
