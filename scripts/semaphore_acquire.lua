--[[
semaphore_acquire - take a permit if one is free and issue the next fencing
token.

KEYS[1]  semaphore (zset): owner ids by the end of their permits
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if no permit is free; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now,
         and it is not queued
ARGV[5]  rank: how far to move the entry forward, us
ARGV[6]  permits: how many there are

Returns  the token if the owner holds a permit now; else {time until the first
         permit expires, ms, its owner, the store's clock in us} and, if it was
         queued, its position in the queue. An error HFTOKEN, and no permit is
         taken: there is no larger token.
Repeat   safe: the same owner gets a larger token, and a lease that runs from
         then.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log permits + log waiters + expired
         permits).
]]
local call = redis.call
--#use clock
local now = tonumber(clock)
local first = call('zrangebyscore', KEYS[1], now + 1, '+inf', 'withscores',
    'limit', 0, 1)
local held = call('zcount', KEYS[1], now + 1, '+inf')
local own = call('zscore', KEYS[1], ARGV[1])
if held < tonumber(ARGV[6]) or own and tonumber(own) > now then
    local ttl, token = tonumber(ARGV[2])
    --#use issue_token last=KEYS[2]
    if not token then
        --#use no_token
    end
    call('zadd', KEYS[1], now + ttl * 1000, ARGV[1])
    call('zremrangebyscore', KEYS[1], '-inf', now)
    call('pexpire', KEYS[1], math.max(ttl, call('pttl', KEYS[1])))
    if ARGV[4] ~= '0' then
        call('zrem', KEYS[3], ARGV[3])
    end
    return tonumber(token)
end
local holder, pttl = first[1], math.ceil((first[2] - now) / 1000)
--#use refuse began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3]
