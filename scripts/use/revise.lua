-- SPDX-License-Identifier: Apache-2.0
--[[
revise - issue the next revision: `token`. It is a fencing token: one counter
numbers both.

last  key of the last fencing token
]]
local token
--#use clock
--#use issue_token
if not token then
    --#use no_token
end
