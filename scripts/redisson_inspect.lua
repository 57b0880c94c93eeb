--[[
redisson_inspect - who holds a lock of Redisson, for how long, and how many wait
for a fair one.

KEYS[1]  lock (hash): hold count by owner
KEYS[2]  last_token (string): last token of a fenced one
KEYS[3]  queue (list): waiters of a fair one

Returns  {owner or nil, pttl, token or nil, count of waiters}.
Repeat   safe.
Writes   nothing. Cost O(1).
]]
local last = redis.pcall('get', KEYS[2])
local fields = {}
if redis.call('hlen', KEYS[1]) <= 1000 then
    fields = redis.call('hkeys', KEYS[1])
end
local owner = fields[1] == 'mode' and fields[2] or fields[1]
return {
    owner or false,
    redis.call('pttl', KEYS[1]),
    type(last) ~= 'table' and last,
    redis.call('llen', KEYS[3])
}
