-- SPDX-License-Identifier: Apache-2.0
--[[
refuse_held_string - the same of a string; only one of the size of a lock's
value costs a command.

key   a string
size  its length
]]
if size >= 32 and size <= 50 then
    --#use refuse_held barrier=nil
end
