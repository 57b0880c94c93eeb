-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_put - write an item that is not there.

id        of the item
payload   of the item
labels      attributes; each ends with two NULs and has no others
at        time of the item, us
ends      deadline, ms
timeline  sorted set of ids by time
items     hash of payloads
marks     hash of attributes
due       sorted set of ids by deadline
order     sorted set of positions
]]
local place = string.format('%016.0f', at) .. id
local places = {'0', '\0\0' .. place}
for label in string.gmatch(labels, '.-%z%z') do
    places[#places + 1] = '0'
    places[#places + 1] = label .. place
end
call('hset', items, id, payload)
call('zadd', order, unpack(places))
call('zadd', timeline, at, id)
call('zadd', due, ends, id)
if labels ~= '' then
    call('hset', marks, id, labels)
end
