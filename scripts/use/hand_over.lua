--[[
hand_over - give the lock to the waiter that has waited longest, for a short
lease: its first renewal makes that long. A waiter that wants no grant is only
woken. One that was killed no longer listens and is skipped, up to 128. If none
is left, the lock is free.

lock     key of the lock
last     key of the last fencing token
waiters  sorted set of entries
own      entry whose grant the caller takes from the reply; empty: none
reply    variable: set to that grant
]]
local head, token = call('zpopmin', waiters)[1]
local owner, lease, grant
--#use clock
if head then
    --#use issue_token
    for _ = 1, token and 128 or 0 do
        local inbox
        lease, inbox = string.match(head, '^(%d+)%S* (.+)%-%x+$')
        lease = math.min(lease or 0, 1000)
        owner = string.sub(head, -32)
        grant = 'ask'
        if lease > 0 then
            grant = owner .. ' ' .. token .. ' ' .. clock .. ' ' .. lease
        end
        if head == own then
            reply = grant
            break
        end
        local woken = redis.pcall('publish', inbox, grant .. '\0' .. lock)
        if woken ~= 0 then
            grant = lease > 0 and type(woken) == 'number' and grant
            break
        end
        head, grant = call('zpopmin', waiters)[1], nil
        if not head then
            break
        end
    end
end
if grant then
    call('set', lock, owner .. '+' .. clock, 'px', lease)
else
    call('del', lock)
end
