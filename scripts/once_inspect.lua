-- SPDX-License-Identifier: Apache-2.0
--[[
once_inspect - how far work is that is to be done once.

KEYS[1]  once (hash): the record, see use/once_claim.lua
KEYS[2]  waiters (zset): entries by when they began to wait, us

Returns  {0 there is no record, 1 under way, 2 done, 3 in doubt; ms until the
         lease of the claim ends, or if there is none the record; count of
         waiters; tick; owner of the claim; its token; status; result}.
         An error WRONGTYPE: the hash is no such record.
Repeat   safe.
Writes   nothing. Cost O(result).
]]
local call = redis.call
local record = call('hmget', KEYS[1], 'claim', 'until', 'tick', 'token', 'status', 'result')
local ends, left, waiting = record[2], call('pttl', KEYS[1]), call('zcard', KEYS[2])
if not ends and left ~= -2 then
    return redis.error_reply('WRONGTYPE the hash is not a record of once')
end
--#use clock
local state = not ends and 0 or ends == '0' and 2 or 3
if tonumber(ends or 0) > tonumber(clock) then
    state, left = 1, math.ceil((ends - clock) / 1000)
end
return {state, left, waiting, record[3] or '0', record[1] or '', record[4] or '0',
    record[5] or '0', record[6] or ''}
