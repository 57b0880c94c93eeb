-- SPDX-License-Identifier: Apache-2.0
--[[
with_deadlines - if a field of a hash expires: make `kind` timed-hash and `list`
field, value, deadline in Unix ms or 0 ...

key      the hash
kind     hash
list     field, value ...

A field without a deadline has -1; one that is gone, -2, has expired.
]]
local fields, timed, some = {}, {}, false
for i = 1, #list, 2 do
    fields[#fields + 1] = list[i]
end
local deadlines = call('hpexpiretime', key, 'fields', #fields, unpack(fields))
for i, at in ipairs(deadlines) do
    some = some or at ~= -1
    timed[3 * i - 2], timed[3 * i - 1] = fields[i], list[2 * i]
    timed[3 * i] = string.format('%.0f', at ~= -1 and math.abs(at) or 0)
end
if some then
    kind, list = 'timed-hash', timed
end
