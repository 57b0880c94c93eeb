-- SPDX-License-Identifier: Apache-2.0
--[[
note_change - note the revision of a value that was written, or that has gone.
Of the names that are noted the 1000 that changed last are kept. The empty name
has the revision up to which changes may be missing: that of the last one that
was dropped, or the one before the first.

changes  names by their revision
name     the key
number   its revision
]]
local added = call('zadd', changes, number, name)
local size = added == 1 and call('zcard', changes)
if size == 1 then
    call('zadd', changes, string.format('%.0f', number - 1), '')
elseif size and size > 1001 then
    call('zadd', changes, call('zpopmin', changes, '2')[4], '')
end
