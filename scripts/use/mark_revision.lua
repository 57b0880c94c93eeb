-- SPDX-License-Identifier: Apache-2.0
--[[
mark_revision - store a value's revision, for as long as the value.

key     the value
stamp   its revision, a blank and its digest
token   the revision
digest  SHA-1 of the value
]]
local left = call('pttl', key)
if left == -1 then
    call('set', stamp, token .. ' ' .. digest)
elseif left ~= -2 then
    call('set', stamp, token .. ' ' .. digest, 'px', math.max(left, 1))
else
    call('del', stamp)
end
