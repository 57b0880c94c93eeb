-- SPDX-License-Identifier: Apache-2.0
--[[
key_copy - copy a key, with its value, its expiry and the keys that belong to
it. The copy has the highest fencing token of either name.

KEYS[1]  key: of any type
KEYS[2]  new_key: name of the copy
KEYS[3]  barrier (hash): state of a barrier. This and the rest may be left out
KEYS[4]  new_barrier (hash): of one of the new name
KEYS[5]  fence (string): of the key
KEYS[6]  new_fence (string): of the copy
KEYS[7]  cache: belongs to a cache entry
KEYS[8]  new_cache: of the copy
KEYS[9]  items: belongs to a timeline
KEYS[10]  new_items: of the copy
KEYS[11]  labels: belongs to a timeline
KEYS[12]  new_labels: of the copy
KEYS[13]  due: belongs to a timeline
KEYS[14]  new_due: of the copy
KEYS[15]  order: belongs to a timeline
KEYS[16]  new_order: of the copy
KEYS[17]  unused_revision: of a value
KEYS[18]  new_revision: of the copy, which has none
ARGV[1]  absent: 1: only if there is no key of the new name; 2: the new name is
         that of the key, which stays; 0

Returns  1 done; 0 there is no such key; it is held: -1 a lock, -2 permits, -3
         an election, -4 a barrier, -5 a claim; -6 to -10 the same of the key
         of the new name; -11 there is one of the new name.
Repeat   no: the second run may replace what another client wrote to the copy.
Writes   KEYS[2], and all of the copy. Cost O(elements).
]]
local call = redis.call
--#use held key=KEYS[1] barrier=KEYS[3]
if kind == 'none' then
    return 0
elseif ARGV[1] == '1' and call('exists', KEYS[2]) == 1 then
    return -11
elseif held > 0 then
    return -held
elseif ARGV[1] == '2' then
    return 1
end
--#use held key=KEYS[2] barrier=KEYS[4]
if held > 0 then
    return -5 - held
end
local highest = KEYS[5] and call('get', KEYS[5])
local other = highest and call('get', KEYS[6])
call('copy', KEYS[1], KEYS[2], 'replace')
if highest and (tonumber(other or 0) or 2^53) < (tonumber(highest) or 2^53) then
    --#use raise_fence fence=KEYS[6] token=highest
end
if KEYS[7] then
    --#use copy from=KEYS[7] to=KEYS[8]
    --#use copy from=KEYS[9] to=KEYS[10]
    --#use copy from=KEYS[11] to=KEYS[12]
    --#use copy from=KEYS[13] to=KEYS[14]
    --#use copy from=KEYS[15] to=KEYS[16]
    call('del', KEYS[18])
end
return 1
