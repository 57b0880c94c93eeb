-- SPDX-License-Identifier: Apache-2.0
--[[
queue_soon - the time until a job is due or a lease ends, ms: `pttl`; -1: none.

queue  key of the queue
clock  the store's clock, us, in 16 digits
ms     the same, ms
]]
local ends = call('zrangebyscore', queue, '(' .. clock, '(4e15', 'withscores', 'limit', 0, 1)
local due = call('zrangebyscore', queue, '4e15', '(5e15', 'withscores', 'limit', 0, 1)
local pttl = math.min(ends[2] and math.ceil((ends[2] - clock) / 1000) or 2^53,
    due[2] and due[2] - 4e15 - ms or 2^53)
pttl = pttl < 2^53 and math.max(pttl, 1) or -1
