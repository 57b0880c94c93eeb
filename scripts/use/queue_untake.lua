-- SPDX-License-Identifier: Apache-2.0
--[[
queue_untake - the last time that a job was taken does not count.

items  hash of the queue
job    id of the job
]]
local before, tries, behind = string.match(call('hget', items, '=' .. job) or '',
    '^(%d+ )(%d+)( .*)$')
if before then
    call('hset', items, '=' .. job,
        before .. string.format('%.0f', math.max(tries - 1, 0)) .. behind)
end
