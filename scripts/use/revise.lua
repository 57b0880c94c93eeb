-- SPDX-License-Identifier: Apache-2.0
--[[
revise - issue the next revision: `token`. It is a fencing token: one counter
numbers both. Before that, `late`: the names of values that have expired. What is
of another type, or may not be read, is found before anything is written.

last     key of the last fencing token
changes  names by their revision
due      names by when they have expired, Unix ms
waiters  inboxes
]]
local token
--#use clock
local ms = math.floor(clock / 1000)
local late = call('zrangebyscore', due, '-inf', ms, 'limit', '0', '100')
call('zcard', changes)
call('zcard', waiters)
--#use issue_token
if not token then
    --#use no_token
end
