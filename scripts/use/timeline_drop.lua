-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_drop - remove items, and some that are due. If the store refuses the
first write, `refused` is its error, and nothing was removed.

gone      list of ids, at most 1000; those that are due are appended
most      most of these
now_ms    the store's clock, ms
timeline  sorted set of ids by time
items     hash of payloads
labels      hash of attributes
due       sorted set of ids by deadline
order     sorted set of positions
]]
for _, id in ipairs(call('zrangebyscore', due, '-inf', now_ms, 'limit', 0,
    most)) do
    gone[#gone + 1] = id
end
local refused
if #gone > 0 then
    local times = call('zmscore', timeline, unpack(gone))
    local old = call('hmget', labels, unpack(gone))
    refused = redis.pcall('zrem', timeline, unpack(gone))
    refused = type(refused) == 'table' and refused or nil
    for i = 1, refused and 0 or #gone do
        local place = string.format('%016.0f', times[i] or 0) .. gone[i]
        local places = {'\0\0' .. place}
        for label in string.gmatch(old[i] or '', '.-%z%z') do
            places[#places + 1] = label .. place
        end
        call('zrem', order, unpack(places))
    end
    if not refused then
        call('hdel', items, unpack(gone))
        call('hdel', labels, unpack(gone))
        call('zrem', due, unpack(gone))
    end
end
