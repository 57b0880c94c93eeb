--[[
hand_permits - give free permits to those that have waited longest, each for a
short lease: its first renewal makes that long.

semaphore  sorted set of owner ids by the end of their permits
last       key of the last fencing token
waiters    sorted set of entries
own        entry whose grant the caller takes from the reply; empty: none
clock      the store's clock, us, in 16 digits
reply      variable: set to that grant
]]
local token
for _ = 1, 128 do
    local head = call('zrange', waiters, 0, 0)[1]
    local want, permits, inbox = string.match(head or '',
        '^(%d+),(%d+) (.+)%-%x+$')
    if not want or call('zcount', semaphore, clock + 1, '+inf')
        >= tonumber(permits) then
        break
    end
    call('zrem', waiters, head)
    --#use issue_token
    local owner, lease = string.sub(head, -32), math.min(want, 1000)
    local grant = owner .. ' ' .. (token or '') .. ' ' .. clock .. ' ' .. lease
    local woken = token and (head == own
        or redis.pcall('publish', inbox, grant .. '\0' .. semaphore))
    reply = woken == true and grant or reply
    if woken == true or type(woken) == 'number' and woken > 0 then
        call('zadd', semaphore, clock + lease * 1000, owner)
        call('pexpire', semaphore, math.max(lease, call('pttl', semaphore)))
    end
end
