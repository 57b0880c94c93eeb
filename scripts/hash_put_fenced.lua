-- SPDX-License-Identifier: Apache-2.0
--[[
hash_put_fenced - as hash_put, unless a higher fencing token was seen.

KEYS[1]  key (hash): the hash
KEYS[2]  fence (string): highest fencing token of the writes of this key
ARGV[1]  token: that of the caller's lock
ARGV[2]  replace: 1: drop the fields that are not given; else 0
ARGV[3]  ttl: time to live of the key, ms; 0: keep; -1: remove
ARGV[4]  field_ttl: time to live of the fields, ms; 0: none
ARGV[5...]  fields: field, value, field, value ...

Returns  0 written; else the highest token, which refused it. An error HFHELD:
         the fence has none, and the key is a lease that is held.
Repeat   no: a write of another client in between may be lost.
Writes   KEYS[1], KEYS[2]. Cost O(fields given), with ARGV[2] also O(fields
         there).
]]
local call = redis.call
local key = KEYS[1]
--#use fence fence=KEYS[2] token=ARGV[1]
if not highest then
    --#use refuse_held barrier=nil
end
--#use put_fields replace=ARGV[2] ttl=ARGV[3] field_ttl=ARGV[4]
--#use raise_fence fence=KEYS[2] token=ARGV[1]
return 0
