-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_permit_acquire - take a permit of a semaphore of Redisson whose permits
expire (RPermitExpirableSemaphore). Those that have expired are given back.

KEYS[1]  semaphore (string): number of free permits
KEYS[2]  timeouts (zset): ids of held permits, by when they expire, Unix ms
KEYS[3]  unused_waiters: for the form of kinds.h
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  unused_entry: for the form of kinds.h
ARGV[4]  unused_began: likewise
ARGV[5]  unused_rank: likewise
ARGV[6]  publish: publish or spublish, a blank, and the channel

Returns  the store's clock in us if the owner holds a permit now; else {time
         until the first permit expires in ms, -1: none is held, its id, the
         store's clock in us}.
Repeat   safe: the same owner has its permit, with a lease that runs from then.
Writes   KEYS[1], KEYS[2]. Cost O(log permits + expired permits).
]]
local call = redis.call
--#use clock
local id, timeouts, heard, number
local now_ms = math.floor(clock / 1000)
--#use redisson_number key=KEYS[1]
--#use redisson_permit semaphore=KEYS[1] owner=ARGV[1]
local own = call('zscore', KEYS[2], id)
local expired = call('zrangebyscore', KEYS[2], '-inf', now_ms, 'limit', 0, 1000)
local free = number or 0
if #expired > 0 then
    call('zrem', KEYS[2], unpack(expired))
    free = call('incrby', KEYS[1], #expired)
    own = call('zscore', KEYS[2], id)
end
if own or free >= 1 then
    if not own then
        free = call('decr', KEYS[1])
    end
    call('zadd', KEYS[2], now_ms + ARGV[2], id)
end
if #expired > 1 and free > 0 then
    local verb, channel = string.match(ARGV[6], '^(%l+) (.*)$')
    --#use redisson_publish message=free
end
if call('zscore', KEYS[2], id) then
    return tonumber(clock)
end
local first = call('zrange', KEYS[2], 0, 0, 'withscores')
return {first[2] and math.min(first[2] - now_ms, 86400000) or -1,
    first[1] or '', tonumber(clock)}
