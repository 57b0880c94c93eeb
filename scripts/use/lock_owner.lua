-- SPDX-License-Identifier: Apache-2.0
--[[
lock_owner - the parts of a lock's value (lock_value): `owner`; `sign`, a `:` if
it was acquired after a wait and the token is that instant; and `token`, empty if
it is unknown. Of another library, the owner is the value.

value  what the key holds; false: nothing
]]
local owner, sign, token = string.match(value or '', '^(%x+%-%x+)([:=]?)(%d*)%+?$')
if not owner or #owner ~= 32 or #token > 16 or (sign == '') ~= (token == '') then
    owner, sign, token = value, '', ''
end
