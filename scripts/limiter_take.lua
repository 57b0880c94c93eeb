-- SPDX-License-Identifier: Apache-2.0
--[[
limiter_take - take a cost from a rate limiter, if it may be spent by now or
soon enough: GCRA, in integers.

KEYS[1]  limiter (string): when all that was taken is earned again (us of the
         store's clock), parts of a us, when this was written
ARGV[1]  spend: time in which the cost is earned, us, rounded down
ARGV[2]  rest: what that leaves, parts; if both are 0 nothing is written
ARGV[3]  parts: of a us
ARGV[4]  burst: time in which the burst is earned, us
ARGV[5]  wait: how much later it may be spent, us

Returns  {1 taken or 0 refused, time in which all that was taken is earned
         again, us and parts}.
Repeat   no: a second run takes the cost again.
Writes   KEYS[1]. Cost O(1). If the clock was set back, what was taken keeps the
         time that it had left.
]]
local call = redis.call
local stored = call('get', KEYS[1])
local now = call('time')
now = now[1] * 1000000 + now[2]
local left, rest, written = 0, 0, 0
if stored then
    left, rest, written = string.match(stored, '^(%d+) (%d+) (%d+)$')
    left, rest, written = tonumber(left), tonumber(rest), tonumber(written)
    if not left or left + rest >= 2^53 or left < written then
        return redis.error_reply('WRONGTYPE it is not a limiter')
    end
    left = left - math.max(now, written)
end
if left < 0 then
    left, rest = 0, 0
end
local spends = ARGV[1] ~= '0' or ARGV[2] ~= '0'
local parts = tonumber(ARGV[3])
local sum = math.min(rest, parts - 1) + tonumber(ARGV[2])
local spent = left + tonumber(ARGV[1]) + math.floor(sum / parts)
local taken = spent <= tonumber(ARGV[4]) + tonumber(ARGV[5])
if taken then
    left, rest = spent, sum % parts
end
if left > 0 and spends and (taken or now < written) then
    call('set', KEYS[1], string.format('%.0f %.0f %.0f', now + left, rest, now),
        'px', math.ceil(left / 1000) + 1)
end
return {taken and 1 or 0, left, rest}
