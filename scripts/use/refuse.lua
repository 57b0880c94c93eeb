-- SPDX-License-Identifier: Apache-2.0
--[[
refuse - answer that another owner holds it, and queue the caller.

clock    the store's clock, us, in 16 digits
began    when the caller began to wait, us; 0: now
rank     how far to move it forward, us
entry    to queue; empty: do not queue
waiters  sorted set of entries by when they began to wait
holder   the owner
pttl     remaining time of its lease, ms
]]
local since = began == '0' and clock or began
if entry ~= '' then
    call('zadd', waiters, rank == '0' and since or since - rank, entry)
    call('pexpire', waiters, '360000')
    return {pttl, holder, tonumber(clock), call('zrank', waiters, entry)}
end
return {pttl, holder, tonumber(clock)}
