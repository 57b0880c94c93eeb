--[[
lock_inspect - who holds a lock, for how long, and how many wait.

KEYS[1]  lock (string): the lock
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us

Returns  {owner or nil, pttl, token or nil, count of waiters, us since it was
         acquired if that was after a wait, or -1}.
Repeat   safe.
Quorum   read.
Writes   nothing. Cost O(1).
]]
local call = redis.call
local last = redis.pcall('get', KEYS[2])
local holder = call('get', KEYS[1])
local owner, since = string.match(holder or '', '^(%x+%-%x+)%+?(%d*)$')
--#use clock
return {
    owner or holder,
    call('pttl', KEYS[1]),
    type(last) ~= 'table' and last,
    call('zcard', KEYS[3]),
    (since or '') ~= '' and math.max(clock - since, 0) or -1
}
