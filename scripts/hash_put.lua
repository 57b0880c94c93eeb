--[[
hash_put - write fields of a hash and the key's expiry in one step.

KEYS[1]  key (hash): the hash
ARGV[1]  condition: nx: only if the key does not exist; xx: only if it does;
         else empty
ARGV[2]  replace: 1: drop the fields that are not given; else 0
ARGV[3]  ttl: time to live of the key, ms; 0: keep; -1: remove
ARGV[4...]  fields: field, value, field, value ...

Returns  1 written; 0 refused by nx or xx.
Repeat   no: nx would refuse the second run, and a write of another client in
         between may be lost.
Writes   KEYS[1]. Cost O(fields given), with ARGV[2] also O(fields there). New
         fields are added before old ones are removed: a refused write loses
         nothing.
]]
local key = KEYS[1]
local exists = redis.call('hlen', key) > 0
if ARGV[1] == 'nx' and exists or ARGV[1] == 'xx' and not exists then
    return 0
end
local old = ARGV[2] == '1' and redis.call('hkeys', key) or {}
redis.call('hset', key, unpack(ARGV, 4))
if #old > 0 then
    local given = {}
    for i = 4, #ARGV, 2 do
        given[ARGV[i]] = true
    end
    for _, field in ipairs(old) do
        if not given[field] then
            redis.call('hdel', key, field)
        end
    end
end
if ARGV[3] == '-1' then
    redis.call('persist', key)
elseif ARGV[3] ~= '0' then
    redis.call('pexpire', key, ARGV[3])
end
return 1
