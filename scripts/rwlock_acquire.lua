--[[
rwlock_acquire - share a lock with other readers if no writer holds it and no
one waits for it, and issue the next fencing token.

KEYS[1]  lock (zset): owner ids of readers by the end of their leases, us,
         negative; a string if a writer holds it
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id, unique to this acquisition
ARGV[2]  ttl: of the lease, ms
ARGV[3]  entry: to queue if the lock is held; empty: do not queue
ARGV[4]  began: when the caller began to wait, us of the store's clock; 0: now,
         and it is not queued
ARGV[5]  rank: how far to move the entry forward, us

Returns  the token if the owner reads now; else {pttl of the lock, owner that
         holds it, the store's clock in us} and, if it was queued, its position
         in the queue, from 0. An error HFTOKEN, and nothing is changed: there
         is no larger token.
Repeat   safe: the same owner gets a larger token, and its lease starts again.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log readers + log waiters).
]]
local call = redis.call
--#use clock
local ttl, added, token, reply, pttl = tonumber(ARGV[2])
local queued = call('exists', KEYS[3]) == 1
local holder = queued and redis.pcall('get', KEYS[1])
if type(holder) == 'table' then
    --#use readers lock=KEYS[1]
end
if not holder or tonumber(redis.pcall('zscore', KEYS[1], ARGV[1])) then
    added = redis.pcall('zadd', KEYS[1], -clock - ttl * 1000, ARGV[1])
end
if type(added) == 'number' then
    --#use issue_token last=KEYS[2]
    if not token then
        call('zrem', KEYS[1], ARGV[1])
        --#use no_token
    end
    --#use keep_readers lock=KEYS[1] owner=ARGV[1]
    local _ = queued and call('zrem', KEYS[3], ARGV[3])
elseif added and not string.find(added.err, '^WRONGTYPE') then
    return added
elseif ARGV[3] ~= '' then
    --#use enqueue began=ARGV[4] rank=ARGV[5] entry=ARGV[3] waiters=KEYS[3]
end
if queued and (pttl or token) then
    --#use admit lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=ARGV[3] ping=pttl
end
if reply then
    call('zadd', KEYS[1], -clock - ttl * 1000, ARGV[1])
    call('pexpire', KEYS[1], math.max(ttl, call('pttl', KEYS[1])))
    token = string.match(reply, ' (%d+)')
end
if token then
    return tonumber(token)
elseif not pttl then
    holder, pttl = holder or call('get', KEYS[1]), call('pttl', KEYS[1])
    --#use mark lock=KEYS[1] entry=ARGV[3]
end
return {pttl, holder, tonumber(clock), call('zrank', KEYS[3], ARGV[3]) or nil}
