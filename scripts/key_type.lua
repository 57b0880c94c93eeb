-- SPDX-License-Identifier: Apache-2.0
--[[
key_type - what a key is: an object of Holdfast, or else its type in Redis.

KEYS[1]  key: of any type
KEYS[2]  barrier (hash): state of a barrier. This and the rest may be left out
KEYS[3]  cache: belongs to a cache entry
KEYS[4]  items: belongs to a timeline
KEYS[5]  due: belongs to a timeline, a rank or a set

Returns  'lock', 'semaphore', 'election', 'barrier', 'cache', 'timeline',
         'rank', 'latch', 'once', 'queue', or the type; 'none': there is no such
         key.
Repeat   safe.
Writes   nothing. Cost O(log holders).
]]
local call = redis.call
--#use held key=KEYS[1] barrier=KEYS[2]
if kind == 'zset' then
    --#use queue_mark key=KEYS[1]
    if mark then
        return 'queue'
    end
end
if kind == 'string' and KEYS[3] and call('exists', KEYS[3]) == 1 then
    return 'cache'
elseif kind == 'zset' and KEYS[4] and call('exists', KEYS[4]) == 1 then
    return 'timeline'
elseif kind == 'zset' and KEYS[5] and call('exists', KEYS[5]) == 1 then
    return 'rank'
elseif held > 0 then
    return ({'lock', 'semaphore', 'election', 'barrier', 'once'})[held]
elseif kind == 'zset' and tonumber(call('zscore', KEYS[1], '=') or 0) < 0 then
    return 'semaphore'
elseif kind == 'hash' and call('hmget', KEYS[1], 'left', 'set')[2] then
    return 'latch'
elseif kind == 'hash' then
    --#use once_record key=KEYS[1]
    kind = ours and 'once' or kind
end
return kind
