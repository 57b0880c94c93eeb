-- SPDX-License-Identifier: Apache-2.0
--[[
hand_permits - give permits that are free to the waiters at the head of the
queue, each for a short lease, up to 128. One that waits for more than are free
holds up those behind it. Waiters that were killed no longer listen and are
skipped.

semaphore  key of the semaphore
last       key of the last fencing token
waiters    sorted set of entries
clock      the store's clock, us, in 16 digits
held       variable: how many permits are held
more       variable: how many of them are not their owner's first
size       the stored number of permits; nil: each waiter has its own
own        entry whose grant the caller takes from the reply; empty: none
ping       true: tell a waiter that holds others up to ask
reply      variable: set to the grant of `own`
]]
for _ = 1, 128 do
    local head = call('zrangebyscore', waiters, '-inf', '+inf', 'limit', 0, 1)[1] or ''
    local lease, limit, weight, inbox =
        string.match(head, '^(%d+),(%d+)/?(%d*) (.+)%-%x+$')
    if not lease then
        break
    end
    local owner, grant, token, woken = string.sub(head, -32), 'ask'
    lease, limit, weight = math.min(lease, 1000), size or tonumber(limit), tonumber(weight) or 1
    local fits = held + weight <= limit
    local waits = not fits and weight <= limit
    if fits and lease > 0 then
        --#use issue_token
        grant = token and owner .. ' ' .. token .. ' ' .. clock .. ' ' .. lease or grant
    end
    if head ~= own and (ping or not waits) then
        --#use send_grant topic=semaphore
    end
    if waits and woken ~= 0 then
        break
    end
    call('zrem', waiters, head)
    if head == own then
        reply = grant
    end
    if woken ~= 0 and grant ~= 'ask' then
        local ends = clock + lease * 1000
        --#use take_permits
        held = held + weight
        if not size then
            call('pexpire', semaphore, math.max(lease, call('pttl', semaphore)))
        end
    end
end
