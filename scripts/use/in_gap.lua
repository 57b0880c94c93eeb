-- SPDX-License-Identifier: Apache-2.0
--[[
in_gap - give a lock back that was taken in a gap (leave_gap): only the head of
the queue may end that.

lock     its key
waiters  sorted set of entries
clock    the store's clock, us, in 16 digits
entry    of the caller in the queue; nil or empty: it does not wait
holder   variable: nil or false if the caller has it; afterwards the owner id
         of the head, if it has not
pttl     variable: then -1
]]
if not holder and call('exists', waiters) == 1 then
    local first = call('zpopmin', waiters)
    call('zadd', waiters, first[2], first[1])
    call('pexpire', waiters, '360000')
    if first[1] ~= entry and first[2] + ('1' .. clock) < 0 then
        call('del', lock)
        holder, pttl = string.sub(first[1], -32), -1
    end
end
