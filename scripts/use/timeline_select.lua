--[[
timeline_select - append the items at the positions found that are not due to
`page`, and what the positions say about them to `reply`.

found      positions
name_size  of the attribute's name, bytes
due        sorted set of ids by deadline
now_ms     the store's clock, ms
skip       variable: items to skip
left       variable: most items
page       list of ids
reply      of timeline_page
]]
local ids, starts = {}, {}
for i, place in ipairs(found) do
    starts[i] = string.find(place, '\0\0', name_size + 1, true)
    ids[i] = string.sub(place, starts[i] + 18)
end
local ends = #ids > 0 and call('zmscore', due, unpack(ids))
for i, id in ipairs(ids) do
    local live = left > 0 and ends[i] and tonumber(ends[i]) > now_ms
    if live and skip > 0 then
        skip = skip - 1
    elseif live then
        left = left - 1
        page[#page + 1] = id
        reply[1] = found[i]
        reply[5 * #page - 2] = id
        reply[5 * #page - 1] = tonumber(string.sub(found[i], starts[i] + 2,
            starts[i] + 17))
        reply[5 * #page] = ends[i] - now_ms
    elseif left > 0 then
        reply[2] = reply[2] + 1
    end
end
