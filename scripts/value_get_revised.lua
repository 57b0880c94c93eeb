-- SPDX-License-Identifier: Apache-2.0
--[[
value_get_revised - read a value and its revision. One that was not written with
a revision gets the next.

KEYS[1]  key (string): the value
KEYS[2]  stamp (string): its revision, a blank and the SHA-1 of the value
KEYS[3]  last_token (string): the key of the last fencing token
KEYS[4]  changes (zset): names by their revision; see use/note_change.lua
KEYS[5]  due (zset): names by when they have expired, Unix ms
KEYS[6]  waiters (zset): inboxes of those that wait for changes

Returns  {revision, value}; 0: there is no such key. An error HFHELD: the value
         is a lease that is held.
Repeat   safe: a second run finds the revision of the first, or a later one.
Writes   all but KEYS[1], if the value has none, or has gone. Cost O(bytes of
         the value + waiters).
]]
local call = redis.call
--#use revision key=KEYS[1] stamp=KEYS[2]
if current and not gone then
    return value and {tonumber(current), value} or 0
end
--#use revise last=KEYS[3] changes=KEYS[4] due=KEYS[5] waiters=KEYS[6]
--#use mark_revision key=KEYS[1] stamp=KEYS[2]
--#use change key=KEYS[1] changes=KEYS[4] due=KEYS[5] last=KEYS[3] waiters=KEYS[6]
return value and {tonumber(token), value} or 0
