--[[
lock_inspect - who holds a lock, for how long, and how many wait.

KEYS[1]  lock (string): the lock; or a sorted set, of readers or permits
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us

Returns  {owner or nil, pttl, token or nil, count of waiters, us since it was
         acquired if that was after a wait, or -1, how many hold it, and 0: it
         is a lock, 1: they read, 2: they hold permits}.
Repeat   safe.
Quorum   read.
Writes   nothing. Cost O(log holders).
]]
local call = redis.call
local last, holder = redis.pcall('get', KEYS[2]), redis.pcall('get', KEYS[1])
last = type(last) ~= 'table' and last
local waiters = call('zcard', KEYS[3])
if type(holder) == 'table' then
    --#use find_holder lock=KEYS[1]
    return {owner, pttl, last, waiters, -1, call('zcount', KEYS[1], low, high),
        sort}
end
local owner, since = string.match(holder or '', '^(%x+%-%x+)%+?(%d*)$')
--#use clock
return {
    owner or holder,
    call('pttl', KEYS[1]),
    last,
    waiters,
    (since or '') ~= '' and math.max(clock - since, 0) or -1,
    holder and 1 or 0,
    0
}
