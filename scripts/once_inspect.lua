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
--#use once_ours key=KEYS[1]
--#use clock
local state, left = not ours and 0 or ends == '0' and 2 or 3, call('pttl', KEYS[1])
if state == 3 and tonumber(ends) > tonumber(clock) then
    state, left = 1, math.ceil((ends - clock) / 1000)
end
local result = state == 2 and call('hget', KEYS[1], 'result') or ''
return {state, left, call('zcard', KEYS[2]), ours and record[3] or '0', ours and record[5] or '',
    ours and record[4] or '0', state == 2 and record[8] or '0', result}
