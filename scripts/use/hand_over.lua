-- SPDX-License-Identifier: Apache-2.0
--[[
hand_over - give the lock to the waiter that has waited longest, or free it. A
waiter that wants no grant is asked to try, and the lock is reserved for it for
100 ms, under the owner id in its entry: others that try meanwhile are refused.

lock     key of the lock
last     key of the last fencing token
waiters  sorted set of entries
own      entry whose grant the caller takes from the reply; empty: none
note     as in pick_waiter
reply    variable: set to that grant
shared   variable: set if a reader is at the head, which the script lets in
]]
--#use pick_waiter topic=lock fits=argument==''
shared = shared or reader
if grant then
    --#use lock_value waited=true mark='+' ttl=lease
elseif grant == false and lease == 0 and #owner == 32 then
    call('set', lock, owner .. '+', 'px', '100')
else
    call('del', lock)
end
