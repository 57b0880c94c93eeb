--[[
timeline_places - append the positions of an item to `places`.

places  list of words for ZADD
tags    attributes of the item; each ends with two NULs and has no others
at      time of the item, us
id      of the item
]]
local place = string.format('%016.0f', at) .. id
places[#places + 1] = '0'
places[#places + 1] = '\0\0' .. place
for tag in string.gmatch(tags, '.-%z%z') do
    places[#places + 1] = '0'
    places[#places + 1] = tag .. place
end
