-- SPDX-License-Identifier: Apache-2.0
--[[
change - after a value was written with a revision, or deleted: note that, and
which have expired, and wake those that wait for changes.

key      the value
left     its time to live, ms; negative: none
token    its revision
clock    the store's clock, us
changes  names by their revision
due      names by when they have expired, Unix ms
last     key of the last fencing token
waiters  inboxes
]]
local ms = math.floor(clock / 1000)
--#use note_change changes=changes name=key number=token
if left >= 0 then
    call('zadd', due, string.format('%.0f', ms + left + 2), key)
else
    call('zrem', due, key)
end
local late = call('zrangebyscore', due, '-inf', ms, 'limit', '0', '100')
--#use note_expired changes=changes due=due last=last
--#use wake_all topic=changes waiters=waiters
