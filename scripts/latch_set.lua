--[[
latch_set - make a latch, unless there is one.

KEYS[1]  latch (hash): `left`, and a field for each arrival
ARGV[1]  count: arrivals until it opens
ARGV[2]  ttl: time to live of the latch, ms
ARGV[3]  id: of the call, unique

Returns  {1, count} if this call made it; {0, count left} if there was one.
Repeat   safe: the latch has the id of the call that made it.
Writes   KEYS[1]. Cost O(1).
]]
local call = redis.call
--#use latch_left latch=KEYS[1]
if left >= 0 then
    local made = call('hget', KEYS[1], 'set') == ARGV[3]
    return {made and 1 or 0, left}
end
call('hset', KEYS[1], 'left', ARGV[1], 'set', ARGV[3])
call('pexpire', KEYS[1], ARGV[2])
return {1, tonumber(ARGV[1])}
