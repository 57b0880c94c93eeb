-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_semaphore_acquire - take permits of a semaphore of Redisson, if enough
are free.

KEYS[1]  semaphore (string): number of free permits
ARGV[1]  permits: how many
ARGV[2]  unused_inbox: for the form of waiting.h

Returns  1 taken; 0 too few are free.
Repeat   no: the second run would take more.
Writes   KEYS[1]. Cost O(1).
]]
local call = redis.call
local number
--#use redisson_number key=KEYS[1]
if (number or 0) < tonumber(ARGV[1]) then
    return 0
end
call('decrby', KEYS[1], ARGV[1])
return 1
