-- SPDX-License-Identifier: Apache-2.0
--[[
queue_clear - a queue that has no job left, and remembers none, is gone.

queue   key of the queue
items   its hash
mark    as by queue_open
paused  true: it stays
]]
if mark and not paused and call('zcard', queue) == 1 then
    call('del', queue, items)
end
