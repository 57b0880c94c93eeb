-- SPDX-License-Identifier: Apache-2.0
--[[
count_permits - count the permits that are held. Those of more than one permit
whose leases have ended are removed.

semaphore  key of the semaphore
clock      the store's clock, us, in 16 digits
held       variable: set to how many are held
more       variable: set to how many of them are not their owner's first
size       variable: set to the stored number of permits, if there is one

Afterwards `left` is how long the key lives, ms; or `size`. A sorted set without
expiry, or of a queue, is another one.
]]
more = 0
local counts = call('zrangebyscore', semaphore, '(-1e12', '(0', 'withscores')
for i = 1, #counts, 2 do
    if counts[i] == '=' then
        size = -counts[i + 1]
    else
        more = -counts[i + 1]
    end
end
local left = size or call('pttl', semaphore)
--#use queue_mark key=semaphore
if left == -1 or mark then
    return redis.error_reply('WRONGTYPE the sorted set is not of a semaphore')
end
for _, owner in ipairs(more > 0
        and call('zrangebyscore', semaphore, '(1e12', clock) or {}) do
    local ended = '#' .. owner
    more = more + 1 - (call('zscore', semaphore, ended) or 1)
    call('zrem', semaphore, ended, owner)
    call('zadd', semaphore, -more, '+')
end
if more == 0 and counts[1] then
    call('zrem', semaphore, '+')
end
held = call('zcount', semaphore, '(' .. clock, '+inf') + more
