-- SPDX-License-Identifier: Apache-2.0
--[[
pick_waiter - grant the lease to the waiter that has waited longest, for a short
time: its first renewal makes that long. A waiter that wants no grant is only
woken. One that was killed no longer listens and is skipped, up to 128.

topic    key of the lease
last     key of the last fencing token
waiters  sorted set of entries
fits     whether an entry with this `argument` waits for a lease of the kind that is
         granted; one of another kind is only woken
own      entry whose grant the caller takes from the reply; empty: none
note     what the message says behind the grant: begins with a blank; or empty
reply    variable: set to that grant

Afterwards `grant` says whether there is one: to `owner`, with `token`, at
`clock`, for `lease` ms, with the `argument` of its entry. `reader`: there is none,
because a reader of a lock is at the head.
]]
local popped, token, owner, lease, argument, grant = call('zpopmin', waiters)
local head, reader = popped[1], false
--#use clock
if head then
    --#use issue_token
    for _ = 1, token and 128 or 0 do
        local inbox
        lease, argument, inbox = string.match(head, '^(%d+),?(%S*) (.+)%-%x+$')
        if argument == ',shared' then
            call('zadd', waiters, popped[2], head)
            reader = true
            break
        end
        lease = lease and fits and math.min(lease, 1000) or 0
        owner = string.sub(head, -32)
        grant = lease > 0
            and owner .. ' ' .. token .. ' ' .. clock .. ' ' .. lease .. note or 'ask'
        if head == own then
            reply = grant
            break
        end
        local woken
        --#use send_grant
        if woken ~= 0 then
            grant = lease > 0 and type(woken) == 'number' and grant
            break
        end
        popped, grant = call('zpopmin', waiters), nil
        head = popped[1]
        if not head then
            break
        end
    end
end
