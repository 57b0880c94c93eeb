-- SPDX-License-Identifier: Apache-2.0
--[[
queue_open - read the clock, and whether the queue exists: `clock`, us, in 16
digits; `ms`, the same as a number; `mark`, false if no job was ever put or all are
gone; and `paused`. Fails if the sorted set is of something else.

See scripts/README.md for what the scores and the fields of the hash mean.

queue  key of the queue
]]
--#use clock
local ms = math.floor(clock / 1000)
--#use queue_mark key=queue
local paused = mark == 2
if not mark and call('exists', queue) == 1 then
    return redis.error_reply('WRONGTYPE the sorted set is not of a queue')
end
