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
local ids, others, first = {}, {}, name_size + 1
for i, place in ipairs(found) do
    local start = string.find(place, '\0\0', first, true)
    ids[i] = string.sub(place, start + 18)
    if label ~= '' then
        others[i] = label .. string.sub(place, start + 2)
    end
end
local ends = #ids > 0 and call('zmscore', due, unpack(ids))
local has = #others > 0 and call('zmscore', order, unpack(others))
local timed, last = low ~= '' or high ~= ':', reply[1]
for i, place in ipairs(found) do
    local id, rest = ids[i], 0
    local time = string.sub(place, -16 - #id, -1 - #id)
    if left > 0 and (not has or has[i]) and (not timed or time >= low and time < high) then
        if ends[i] then
            rest = ends[i] - now_ms
        end
        if rest <= 0 then
            reply[2] = reply[2] + 1
        elseif skip > 0 then
            skip = skip - 1
        else
            local at = 5 * #page
            left, last, page[#page + 1] = left - 1, place, id
            reply[at + 3], reply[at + 4], reply[at + 5] = id, tonumber(time), rest
        end
    end
end
reply[1] = last
