-- SPDX-License-Identifier: Apache-2.0
--[[
txn_exact - read an integer that Lua rounds again as text.

name     of the command
key      its first argument
field    its second
reply    what it returned
]]
local at = type(reply) == 'table' and reply or {reply}
for i, value in ipairs(at) do
    if i > 1 and type(value) == 'string' then
        break
    elseif type(value) == 'number' and math.abs(value) >= 2 ^ 53 then
        local lower = name:lower()
        if lower == 'hincrby' then
            reply = {ok = ':' .. call('hget', key, field)}
        elseif lower:find('^incr') or lower:find('^decr') then
            reply = {ok = ':' .. call('get', key)}
        else
            reply = {err = 'ERR the reply is an integer that is not exact'}
        end
        break
    end
end
