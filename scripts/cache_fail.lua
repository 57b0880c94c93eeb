-- SPDX-License-Identifier: Apache-2.0
--[[
cache_fail - end a fill that has no value.

KEYS[1]  key: the value
KEYS[2]  fill: the token of the fill under way
KEYS[3]  waiters: sorted set of inboxes
ARGV[1]  token: of the caller's fill
ARGV[2]  pause: until the next fill, ms, while an old value is returned; 0: none
ARGV[3]  status: for those that wait for this fill; empty: they fill

Returns  1 ended; 0 it had lost its lease.
Repeat   safe: a token is never used twice.
Writes   KEYS[2], KEYS[3]. Cost O(waiters).
]]
local call = redis.call
if call('get', KEYS[2]) ~= ARGV[1] then
    return 0
end
if ARGV[2] ~= '0' then
    call('set', KEYS[2], '!' .. ARGV[1], 'px', ARGV[2])
elseif ARGV[3] ~= '' and call('exists', KEYS[3]) == 1 then
    call('set', KEYS[2], '?' .. ARGV[1] .. ' ' .. ARGV[3], 'px', '1000')
else
    call('del', KEYS[2])
end
--#use wake_all topic=KEYS[1] waiters=KEYS[3]
return 1
