-- SPDX-License-Identifier: Apache-2.0
--[[
value_delete_revised - delete a value, if it has the expected revision. The
deletion has the next.

KEYS[1]  key (string): the value
KEYS[2]  stamp (string): its revision, a blank and the SHA-1 of the value
KEYS[3]  last_token (string): the key of the last fencing token
KEYS[4]  changes (zset): names by their revision; see use/note_change.lua
KEYS[5]  due (zset): names by when they have expired, Unix ms
KEYS[6]  waiters (zset): inboxes of those that wait for changes
ARGV[1]  expected: the revision; -1: any

Returns  {1, revision}: done; {0, revision}: the value has this one; {0, 0}:
         there is no value. An error HFHELD: the value is a lease that is held.
Repeat   no: the second run would find no value after the first has deleted it.
Writes   all keys. Cost O(bytes of the value + waiters).
]]
local call = redis.call
--#use revision key=KEYS[1] stamp=KEYS[2]
local refused = ARGV[1] ~= '-1' and ARGV[1] ~= current
if not gone and (not value or refused and current) then
    return {0, tonumber(current)}
end
--#use revise last=KEYS[3] changes=KEYS[4] due=KEYS[5] waiters=KEYS[6]
if value and not refused then
    call('del', KEYS[1])
end
--#use mark_revision key=KEYS[1] stamp=KEYS[2]
--#use change key=KEYS[1] changes=KEYS[4] due=KEYS[5] last=KEYS[3] waiters=KEYS[6]
return {(refused or gone) and 0 or 1, gone and 0 or tonumber(token)}
