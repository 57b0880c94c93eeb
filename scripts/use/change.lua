-- SPDX-License-Identifier: Apache-2.0
--[[
change - after a value was written with a revision, or deleted: note that, and
which have expired, and wake those that wait for changes.

key      the value
left     its time to live, ms; negative: none
token    its revision
ms       the store's clock, ms
late     names that have expired
changes  names by their revision
due      names by when they have expired, Unix ms
last     key of the last fencing token
waiters  inboxes
]]
--#use note_change changes=changes name=key number=token
if left >= 0 then
    call('zadd', due, string.format('%.0f', ms + left + 2), key)
else
    call('zrem', due, key)
end
--#use note_expired changes=changes due=due last=last
--#use wake_all topic=changes waiters=waiters
