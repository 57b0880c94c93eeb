-- SPDX-License-Identifier: Apache-2.0
--[[
held - is a key a lease that is held, or a barrier where parties wait? Sets
`kind`, its type in Redis, and `held`: 0: no; 1: a lock; 2: permits of a
semaphore; 3: an election; 4: a barrier; 5: a claim of once. Locks of Redisson are hashes,
its semaphores numbers, whose permits are in another key: see redisson_look. A
queue is held by no one, though its jobs may be.

key      of any type
barrier  state of a barrier of that name; nil: its name allows none
]]
local kind, held = call('type', key).ok, 0
if kind == 'string' then
    local size = call('strlen', key)
    --#use own_lock
    held = owner and 1 or 0
    if size <= 20 and string.find(call('get', key), '^%-?%d+$') then
        local braced = '' .. key
        braced = string.find(braced, '{', 1, true) and braced or '{' .. braced .. '}'
        --#use clock
        local count = redis.pcall('zcount', braced .. ':timeout',
            string.format('(%.0f', clock / 1000), '+inf')
        held = type(count) == 'number' and count > 0 and 2 or 0
    end
elseif kind == 'hash' then
    local leader = call('hmget', key, 'owner', 'term', 'claim')
    held = leader[2] and string.find(leader[1] or '', '^%x+%-%x+$') and 3 or 0
    if #(leader[3] or '') == 32 then
        --#use once_record key=key
        --#use clock
        held = ours and tonumber(ends) > tonumber(clock) and 5 or held
    end
    local expires = held == 0 and call('hlen', key) <= 1001 and call('pttl', key) or -1
    for _, field in ipairs(expires >= 0 and call('hkeys', key) or {}) do
        local owner = string.match(field, '^(.*):write$') or field
        local java = string.match(owner, '^(%x+%-%x+%-%x+%-%x+%-%x+):%-?%d+$') or ''
        if #java == 36 or #owner == 32 and string.find(owner, '^%x+%-%x+$') then
            held = 1
        elseif field ~= 'mode' then
            held = 0
            break
        end
    end
elseif kind == 'zset' then
    --#use queue_mark
    --#use clock
    local reader = call('zrangebyscore', key, '-inf', '-' .. clock, 'limit', 0, 1)[1]
    local owner = reader
        or call('zrangebyscore', key, '(' .. clock, '+inf', 'limit', 0, 1)[1] or ''
    if not mark and #owner == 32 and string.find(owner, '^%x+%-%x+$') then
        held = reader and 1 or 2
    elseif #owner == 32 and string.find(owner, '^%x+$') then
        held = barrier and call('exists', barrier) == 1 and 4 or 0
    end
end
