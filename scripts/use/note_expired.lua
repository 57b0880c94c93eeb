-- SPDX-License-Identifier: Apache-2.0
--[[
note_expired - note that values have expired, up to 100, each with a revision of
its own, as long as there are some.

changes  names by their revision
due      names by when they have expired, Unix ms
late     variable: the names that are due
last     key of the last fencing token, which is there
]]
for i = 1, #late do
    local number = call('incrby', last, '1')
    if number >= 2^53 then
        break
    end
    number = string.format('%.0f', number)
    --#use note_change changes=changes name=late[i] number=number
    call('zrem', due, late[i])
end
