-- SPDX-License-Identifier: Apache-2.0
--[[
queue_mark - is a sorted set that of a queue? Sets `mark`: 1: yes; 2: yes, and it
is paused; false: no. Another set may well have a member `*`, but not by one of
these two scores.

key  of a sorted set, or of nothing
]]
local score = tonumber(call('zscore', key, '*') or 0)
local mark = score == 9e15 and 1 or score == 9.001e15 and 2
