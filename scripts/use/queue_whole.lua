-- SPDX-License-Identifier: Apache-2.0
--[[
queue_whole - before a write of a queue: what is left of one whose set was deleted
or has expired alone is of no use, and is removed. No one has a job of it.

mark   as by queue_open
items  hash of the queue
]]
if not mark and call('exists', items) == 1 then
    call('del', items)
end
