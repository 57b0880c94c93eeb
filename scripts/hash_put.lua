-- SPDX-License-Identifier: Apache-2.0
--[[
hash_put - write fields of a hash and the key's expiry in one step.

KEYS[1]  key (hash): the hash
ARGV[1]  condition: nx: only if the key does not exist; xx: only if it does;
         else empty
ARGV[2]  replace: 1: drop the fields that are not given; else 0
ARGV[3]  ttl: time to live of the key, ms; 0: keep; -1: remove
ARGV[4]  field_ttl: time to live of the fields, ms; 0: none
ARGV[5...]  fields: field, value, field, value ...

Returns  1 written; 0 refused by nx or xx. An error HFHELD: all fields were to be
         replaced, and it is a lease that is held.
Repeat   no: nx would refuse the second run, and a write of another client in
         between may be lost.
Writes   KEYS[1]. Cost O(fields given), with ARGV[2] also O(fields there).
]]
local call = redis.call
local key = KEYS[1]
local exists = call('hlen', key) > 0
if ARGV[1] == 'nx' and exists or ARGV[1] == 'xx' and not exists then
    return 0
end
--#use put_fields replace=ARGV[2] ttl=ARGV[3] field_ttl=ARGV[4]
return 1
