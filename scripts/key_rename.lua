-- SPDX-License-Identifier: Apache-2.0
--[[
key_rename - give a key another name, with its value, its expiry and the keys
that belong to it. Both names keep the highest fencing token of either, neither a
revision.

KEYS[1]  key: of any type
KEYS[2]  new_key: its name afterwards; a key of that name is replaced
KEYS[3]  barrier (hash): state of a barrier. This and the rest may be left out
KEYS[4]  new_barrier (hash): of one of the new name
KEYS[5]  fence (string): of the key
KEYS[6]  new_fence (string): of the new one
KEYS[7]  cache: belongs to a cache entry
KEYS[8]  new_cache: its name afterwards
KEYS[9]  items: belongs to a timeline
KEYS[10]  new_items: its name afterwards
KEYS[11]  labels: belongs to a timeline
KEYS[12]  new_labels: its name afterwards
KEYS[13]  due: belongs to a timeline
KEYS[14]  new_due: its name afterwards
KEYS[15]  order: belongs to a timeline
KEYS[16]  new_order: its name afterwards
KEYS[17]  revision: of a value
KEYS[18]  new_revision: of one of the new name
ARGV[1]  absent: 1: only if there is no key of the new name; 0

Returns  1 done; 0 there is no such key; it is held: -1 a lock, -2 permits, -3
         an election, -4 a barrier, -5 a claim; -6 to -10 the same of the key
         of the new name; -11 there is one of the new name.
Repeat   no: the second run finds no key, or renames another one.
Writes   all keys. Cost O(1).
]]
local call = redis.call
--#use held key=KEYS[1] barrier=KEYS[3]
if kind == 'none' then
    return 0
elseif ARGV[1] == '1' and call('exists', KEYS[2]) == 1 then
    return -11
elseif held > 0 then
    return -held
end
--#use held key=KEYS[2] barrier=KEYS[4]
if held > 0 then
    return -5 - held
end
local highest = KEYS[5] and call('get', KEYS[5])
local other = highest and call('get', KEYS[6])
call('rename', KEYS[1], KEYS[2])
if highest and (tonumber(other or 0) or 2^53) < (tonumber(highest) or 2^53) then
    --#use raise_fence fence=KEYS[6] token=highest
end
if KEYS[7] then
    --#use move from=KEYS[7] to=KEYS[8]
    --#use move from=KEYS[9] to=KEYS[10]
    --#use move from=KEYS[11] to=KEYS[12]
    --#use move from=KEYS[13] to=KEYS[14]
    --#use move from=KEYS[15] to=KEYS[16]
    call('del', KEYS[17], KEYS[18])
end
return 1
