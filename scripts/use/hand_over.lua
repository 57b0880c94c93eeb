--[[
hand_over - give the lock to the waiter that has waited longest, or free it.

lock     key of the lock
last     key of the last fencing token
waiters  sorted set of entries
own      entry whose grant the caller takes from the reply; empty: none
reply    variable: set to that grant
shared   variable: set if a reader is at the head, which the script lets in
]]
--#use pick_waiter topic=lock
shared = shared or reader
if grant then
    call('set', lock, owner .. '+' .. (token == clock and clock or ''),
        'px', lease)
else
    call('del', lock)
end
