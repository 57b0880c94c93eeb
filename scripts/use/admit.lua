-- SPDX-License-Identifier: Apache-2.0
--[[
admit - let in the readers at the head of the queue, each for a short lease, up
to 128. Waiters that were killed no longer listen and are skipped.

lock     key of the lock, which no writer holds
last     key of the last fencing token
waiters  sorted set of entries
clock    the store's clock, us, in 16 digits
own      entry whose grant the caller takes from the reply; empty: none
ping     if this is true and a writer is at the head: tell it to ask
pop      if this is true, too: remove it, so that it holds up readers only once
         if its process is stopped
reply    variable: set to the grant of `own`; false: a writer was removed
]]
for _ = 1, 128 do
    local head = call('zrangebyscore', waiters, '-inf', '+inf', 'limit', 0, 1)[1] or ''
    local lease, inbox = string.match(head, '^(%d+),,shared (.+)%-%x+$')
    local owner, grant, token = string.sub(head, -32), 'ask'
    if lease then
        --#use issue_token
        lease = token and math.min(lease, 1000) or 0
    else
        inbox = (ping) and string.match(head, ' (.+)%-%x+$')
    end
    if (lease or 0) > 0 then
        grant = owner .. ' ' .. token .. ' ' .. clock .. ' ' .. lease
    end
    local woken
    if inbox and head ~= own then
        --#use send_grant topic=lock
    end
    if not inbox or not lease and woken ~= 0 then
        if pop and inbox then
            reply = call('zrem', waiters, head)<1
        end
        break
    end
    call('zrem', waiters, head)
    if head == own then
        reply = grant
    end
    if woken ~= 0 and grant ~= 'ask' then
        call('zadd', lock, -clock - lease * 1000, owner)
        call('pexpire', lock, math.max(lease, call('pttl', lock)))
    end
end
