-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_look - who holds a lock of Redisson, or permits of one of its semaphores:
their ids in `owners`, empty if the key is neither; what is left of their leases in
`lefts`, ms; `sort`, 1: they read, 2: they hold permits, else 0; the token of a
fenced lock in `fence`, else empty. `braced` is the key with a hash tag, which the
other keys have: those are not among KEYS. A lock is a hash that expires and whose
fields have the form of owner ids; one with more than a thousand counts as none.

lock    key of the lock
holder  the reply to GET
only    1: fail if the key is another
]]
local braced = '' .. lock
if not string.find(braced, '{', 1, true) then
    braced = '{' .. braced .. '}'
end
local owners, lefts, sort, fence = {}, {}, 0, ''
local size = type(holder) == 'table' and redis.pcall('hlen', lock)
local left = type(size) == 'number' and size <= 1001 and call('pttl', lock) or -1
local mode = left >= 0 and call('hget', lock, 'mode')
for _, field in ipairs(left >= 0 and call('hkeys', lock) or {}) do
    local writer = string.match(field, '^(.*):write$')
    local owner = writer or field
    local java = string.match(owner, '^(%x+%-%x+%-%x+%-%x+%-%x+):%-?%d+$') or ''
    if field == 'mode' then
        sort = mode == 'read' and 1 or 0
    elseif #java ~= 36 and (#owner ~= 32 or not string.find(owner, '^%x+%-%x+$')) then
        owners = {}
        break
    elseif mode ~= 'write' or writer then
        owners[#owners + 1] = owner
        lefts[#owners] = mode == 'read' and tonumber(redis.pcall('pttl',
            braced .. ':' .. owner .. ':rwlock_timeout:1')) or left
    end
end
if string.find(type(holder) == 'string' and holder or '', '^%-?%d+$') then
    local now = call('time')
    now = now[1] * 1000 + math.floor(now[2] / 1000)
    local held = redis.pcall('zrangebyscore', braced .. ':timeout', '(' .. now, '+inf',
        'withscores', 'limit', 0, '100000')
    for i = 1, #held, 2 do
        owners[#owners + 1] = string.gsub(held[i], '.', function(byte)
            return string.format('%02x', string.byte(byte))
        end)
        lefts[#owners] = held[i + 1] - now
        sort = 2
    end
end
if owners[1] and sort == 0 then
    fence = redis.pcall('get', 'redisson_lock_token:' .. braced)
    fence = type(fence) == 'string' and fence or ''
end
if only == '1' and holder and not owners[1] then
    return redis.error_reply('WRONGTYPE the key holds no lock of Redisson')
end
