-- SPDX-License-Identifier: Apache-2.0
--[[
queue_open - read the clock, and whether the queue exists: `clock`, us, in 16
digits; `ms`, the same as a number; `mark`, nil or false if no job was ever put or
all are gone; and `paused`. Fails if the sorted set is of something else.

See scripts/README.md for what the scores and the fields of the hash mean.

queue  key of the queue
]]
--#use clock
local ms, mark = math.floor(clock / 1000), call('zscore', queue, '*')
local paused = mark and tonumber(mark) > 9e15
if call('exists', queue) == 1 and tonumber(mark or 0) < 9e15 then
    return redis.error_reply('WRONGTYPE the sorted set is not of a queue')
end
