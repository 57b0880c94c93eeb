--[[
lock_inspect - who holds a lock, for how long, and how many wait.

KEYS[1]  lock (string): the lock
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): inboxes

Returns  {owner or nil, pttl, token or nil, count of waiters}.
Repeat   safe.
Quorum   read.
Writes   nothing. Cost O(1).
]]
local last = redis.pcall('get', KEYS[2])
return {
    redis.call('get', KEYS[1]),
    redis.call('pttl', KEYS[1]),
    type(last) ~= 'table' and last,
    redis.call('zcard', KEYS[3])
}
