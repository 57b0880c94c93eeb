-- SPDX-License-Identifier: Apache-2.0
--[[
put_timed - write fields of a hash with their deadlines: ARGV[4] and those that
follow are field, value, deadline in Unix ms or 0 ...

key      the hash
]]
local given = {unpack(ARGV, 4)}
for i = 1, #given, 3 do
    call('hset', key, given[i], given[i + 1])
    if given[i + 2] ~= '0' then
        call('hpexpireat', key, given[i + 2], 'fields', 1, given[i])
    end
end
