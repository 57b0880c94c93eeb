-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_clock - read the store's clock: `now` in us, `now_ms` in ms.
]]
local clock = call('time')
local now = clock[1] * 1000000 + clock[2]
local now_ms = math.floor(now / 1000)
