--[[
redisson_inspect - who holds a lock of Redisson, for how long, and how many wait
for a fair one.

KEYS[1]  lock (hash): hold count by owner, and `mode` of a read-write lock
KEYS[2]  last_token (string): last token of a fenced one
KEYS[3]  queue (list): waiters of a fair one

Returns  {owner or nil, pttl, token or nil, count of waiters, -1, how many hold
         it, 0: it is a lock, 1: they read, and the owner's token, empty if it
         is unknown}; as lock_inspect.
Repeat   safe.
Writes   nothing. Cost O(readers).
]]
local call = redis.call
local last = redis.pcall('get', KEYS[2])
last = type(last) ~= 'table' and last
--#use redisson_owners lock=KEYS[1]
return {
    owners[1] or false,
    call('pttl', KEYS[1]),
    last,
    call('llen', KEYS[3]),
    -1,
    #owners,
    sort,
    sort == 0 and owners[1] and last or ''
}
