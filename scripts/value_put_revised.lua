-- SPDX-License-Identifier: Apache-2.0
--[[
value_put_revised - set a value, if it has the expected revision, and give it
the next.

KEYS[1]  key (string): the value
KEYS[2]  stamp (string): its revision, a blank and the SHA-1 of the value
KEYS[3]  last_token (string): the key of the last fencing token
KEYS[4]  changes (zset): names by their revision; see use/note_change.lua
KEYS[5]  due (zset): names by when they have expired, Unix ms
KEYS[6]  waiters (zset): inboxes of those that wait for changes
ARGV[1]  expected: the revision; 0: the key must not exist; -1: any, or none
ARGV[2]  value: the new one
ARGV[3...]  options: of SET

Returns  {1, revision}: done; {0, revision}: the value has this one; {0, 0}:
         there is no value. An error HFHELD: the value is a lease that is held.
Repeat   no: the second run would take the revision of the first for that of
         another client.
Writes   all keys. Cost O(bytes of both values + waiters).
]]
local call = redis.call
--#use revision key=KEYS[1] stamp=KEYS[2]
local refused = ARGV[1] ~= '-1' and ARGV[1] ~= current
if refused and current and not gone then
    return {0, tonumber(current)}
end
--#use revise last=KEYS[3] changes=KEYS[4] due=KEYS[5] waiters=KEYS[6]
if not refused then
    call('set', KEYS[1], ARGV[2], unpack(ARGV, 3))
    digest = redis.sha1hex(ARGV[2])
end
--#use mark_revision key=KEYS[1] stamp=KEYS[2]
--#use change key=KEYS[1] changes=KEYS[4] due=KEYS[5] last=KEYS[3] waiters=KEYS[6]
return {refused and 0 or 1, refused and gone and 0 or tonumber(token)}
