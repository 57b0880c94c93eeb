-- SPDX-License-Identifier: Apache-2.0
--[[
ids_take - take the next ids of a counter, in one block.

KEYS[1]  counter (string): the last id that was taken
ARGV[1]  count: how many
ARGV[2]  high: the greatest last id after which there are so many
ARGV[3]  dense: 1 they follow the last id; 0 they are not below the store's
         clock, us, and the counter expires

Returns  the last of the block, as text; 0 if there are not so many.
Repeat   safe: it takes another block, and nothing has the ids of the first.
Writes   KEYS[1]. Cost O(1). Ids are compared as text: Lua's own numbers are
         exact only below 2^53.
]]
local call = redis.call
local last = call('get', KEYS[1])
local function less(a, b)
    return #a < #b or #a == #b and a < b
end
if last and (not string.find(last, '^[1-9]%d*$')
        or less('9223372036854775807', last)) then
    return redis.error_reply('WRONGTYPE it is no counter of ids')
end
if less(ARGV[2], last or '0') then
    return 0
end
if ARGV[3] == '0' then
    local now = call('time')
    local before = string.format('%.0f', now[1] * 1000000 + now[2] - 1)
    if less(last or '0', before) then
        call('set', KEYS[1], before)
    end
end
call('incrby', KEYS[1], ARGV[1])
if ARGV[3] == '0' then
    call('pexpire', KEYS[1], '604800000')
end
return call('get', KEYS[1])
