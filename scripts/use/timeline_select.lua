-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_select - append the items at the positions found that are wanted and
not due to `page`, and what the positions say about them to `reply`.

found      positions
name_size  of the attribute's name, bytes
due        sorted set of ids by deadline
order      sorted set of positions
label      of an attribute that items must have; empty: any
low        digits of the first time; empty: any
high       digits of the first time beyond; ':': any
now_ms     the store's clock, ms
skip       variable: items to skip
left       variable: most items
page       list of ids
reply      of timeline_page
]]
local ids, times, others = {}, {}, {}
for i, place in ipairs(found) do
    local start = string.find(place, '\0\0', name_size + 1, true)
    ids[i] = string.sub(place, start + 18)
    times[i] = string.sub(place, start + 2, start + 17)
    others[i] = label ~= '' and label .. string.sub(place, start + 2) or nil
end
local ends = #ids > 0 and call('zmscore', due, unpack(ids))
local has = #others > 0 and call('zmscore', order, unpack(others))
for i, id in ipairs(ids) do
    local live = left > 0 and ends[i] and tonumber(ends[i]) > now_ms
    if has and not has[i] or times[i] < low or times[i] >= high then
        live = nil
    end
    if live and skip > 0 then
        skip = skip - 1
    elseif live then
        left = left - 1
        page[#page + 1] = id
        reply[1] = found[i]
        reply[5 * #page - 2] = id
        reply[5 * #page - 1] = tonumber(times[i])
        reply[5 * #page] = ends[i] - now_ms
    elseif left > 0 and live ~= nil then
        reply[2] = reply[2] + 1
    end
end
