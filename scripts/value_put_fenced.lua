-- SPDX-License-Identifier: Apache-2.0
--[[
value_put_fenced - set a value, unless a higher fencing token was seen.

KEYS[1]  key: the value
KEYS[2]  fence (string): highest fencing token of the writes of this key
ARGV[1]  token: that of the caller's lock
ARGV[2]  value: the new one
ARGV[3...]  options: of SET

Returns  0 written; else the highest token, which refused it. An error HFHELD:
         the fence has none, and the key is a lease that is held.
Repeat   no: a write of another client in between may be lost.
Writes   KEYS[1], KEYS[2]. Cost O(1).
]]
local call = redis.call
--#use fence fence=KEYS[2] token=ARGV[1]
if not highest then
    --#use refuse_held key=KEYS[1] barrier=nil
end
call('set', KEYS[1], ARGV[2], unpack(ARGV, 3))
--#use raise_fence fence=KEYS[2] token=ARGV[1]
return 0
