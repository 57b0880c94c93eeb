--[[
put_fields - write fields of a hash and its expiry. New fields are added before
old ones are removed: a refused write loses nothing. The fields are ARGV[4] and
those that follow: field, value, field, value ...

key      the hash
replace  1: drop the fields that are not given
ttl      time to live of the key, ms; 0: keep; -1: remove
]]
local old = replace == '1' and redis.call('hkeys', key) or {}
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
if ttl == '-1' then
    redis.call('persist', key)
elseif ttl ~= '0' then
    redis.call('pexpire', key, ttl)
end
