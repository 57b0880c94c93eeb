--[[
lock_break - take a lock from whoever holds it and wake a waiter.

KEYS[1]  the lock
KEYS[2]  last fencing token of this lock
KEYS[3]  waiters: sorted set of inboxes

Returns  1 if somebody held it, else 0.
Repeat   no: it could break the lock of the next holder.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters). The token is issued
         before the lock goes, so that fenced writes of the old holder end.
]]
local call = redis.call
if not call('get', KEYS[1]) then
    return 0
end
local now = call('time')
now = now[1] * 1000000 + now[2]
local last = tonumber(call('get', KEYS[2])) or 0
call('set', KEYS[2], math.max(last + 1, now), 'px', 604800000)
call('del', KEYS[1])
for _ = 1, 128 do
    local head = call('zpopmin', KEYS[3])[1]
    local woken = head and redis.pcall('publish', head, KEYS[1])
    if woken ~= 0 then
        break
    end
end
return 1
