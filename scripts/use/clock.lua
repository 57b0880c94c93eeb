-- SPDX-License-Identifier: Apache-2.0
--[[
clock - read the store's clock: `clock`, us, in 16 digits. An embedded store has
them as a text in the third place.
]]
local clock = call('time')
local us = clock[2]
clock = clock[3] or clock[1] .. (#us == 6 and us or string.sub('00000' .. us, -6))
