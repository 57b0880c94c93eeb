-- SPDX-License-Identifier: Apache-2.0
--[[
take_permits - note that an owner holds permits. The score of one that holds
several ends in .5.

semaphore  key of the semaphore
owner      owner id
weight     how many: a number
ends       variable: when its lease ends, us
more       variable: how many permits are not their owner's first
]]
if weight > 1 then
    call('zadd', semaphore, weight, '#' .. owner)
    more = more + weight - 1
    call('zadd', semaphore, -more, '+')
    ends = ends + 0.5
end
call('zadd', semaphore, ends, owner)
