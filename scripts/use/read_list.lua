-- SPDX-License-Identifier: Apache-2.0
--[[
read_list - read a list, piece by piece, into `list`; false if it has too many
elements. `mark` identifies its ends.

key      the list
count    its elements
most     limit of elements
room     limit of bytes; becomes what is left of it
]]
mark = redis.sha1hex(call('lindex', key, 0))
    .. redis.sha1hex(call('lindex', key, -1))
list = {}
while count <= most and room >= 0 and #list < count do
    for _, value in ipairs(call('lrange', key, #list, #list + 63)) do
        list[#list + 1], room = value, room - #value
    end
end
list = count <= most and list
