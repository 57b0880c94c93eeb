-- SPDX-License-Identifier: Apache-2.0
--[[
semaphore_resize - store how many permits a semaphore has, and give those that
have become free to waiters.

KEYS[1]  semaphore (zset): owner ids by the end of their leases, us
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  permits: how many; 0: forget the stored number

Returns  1 done; 0 no number was stored, and none is now.
Repeat   no: it could undo the change of another client.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log permits + permits given).
]]
local call = redis.call
--#use clock
local held, more, size, reply
--#use count_permits semaphore=KEYS[1]
if ARGV[1] ~= '0' then
    call('zadd', KEYS[1], -ARGV[1], '=')
    call('persist', KEYS[1])
    size = tonumber(ARGV[1])
elseif size then
    call('zrem', KEYS[1], '=')
    call('pexpire', KEYS[1], 86400000)
    size = nil
else
    return 0
end
--#use hand_permits semaphore=KEYS[1] last=KEYS[2] waiters=KEYS[3] own='' ping=nil
return 1
