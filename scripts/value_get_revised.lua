-- SPDX-License-Identifier: Apache-2.0
--[[
value_get_revised - read a value and its revision. One that was not written with
a revision gets the next.

KEYS[1]  key (string): the value
KEYS[2]  stamp (string): its revision, a blank and the SHA-1 of the value
KEYS[3]  last_token (string): the key of the last fencing token

Returns  {revision, value}; 0: there is no such key. An error HFHELD: the value
         is a lease that is held.
Repeat   safe: a second run finds the revision of the first, or a later one.
Writes   KEYS[2], KEYS[3], if the value has none. Cost O(bytes of the value).
]]
local call = redis.call
--#use revision key=KEYS[1] stamp=KEYS[2]
if current then
    return value and {tonumber(current), value} or 0
end
--#use revise last=KEYS[3]
--#use mark_revision key=KEYS[1] stamp=KEYS[2]
return {tonumber(token), value}
