-- SPDX-License-Identifier: Apache-2.0
--[[
put_fields - write fields of a hash and its expiry. New fields are added before
old ones are removed: a refused write loses nothing. The fields are ARGV[5] and
those that follow: field, value, field, value ... With field_ttl a server
without HPEXPIRE fails before anything is written. A lease that is held, known
by two of its fields, is not replaced.

key      the hash
replace  1: drop the fields that are not given
ttl      time to live of the key, ms; 0: keep; -1: remove
field_ttl  time to live of the fields, ms; 0: none
]]
local names = field_ttl ~= '0' and {}
if names then
    for i = 5, #ARGV, 2 do
        names[#names + 1] = ARGV[i]
    end
    local refused = redis.pcall('hpttl', key, 'fields', 1, names[1]).err
    if refused and string.find(refused, 'nknown') then
        refused = 'ERR unknown command HPEXPIRE'
    end
    if refused then
        return redis.error_reply(refused)
    end
end
local old = replace == '1' and redis.call('hkeys', key) or {}
if old[1] then
    local one, two = old[1], old[2] or old[1]
    local known = 'owner term claim until digest keep tick doubt token'
    if #one >= 32 or #two >= 32 or string.find(known, one, 1, true)
        or string.find(known, two, 1, true) then
        --#use refuse_held barrier=nil
    end
end
redis.call('hset', key, unpack(ARGV, 5))
if #old > 0 then
    local given = {}
    for i = 5, #ARGV, 2 do
        given[ARGV[i]] = true
    end
    for _, field in ipairs(old) do
        if not given[field] then
            redis.call('hdel', key, field)
        end
    end
end
if names then
    redis.call('hpexpire', key, field_ttl, 'fields', #names, unpack(names))
end
if ttl == '-1' then
    redis.call('persist', key)
elseif ttl ~= '0' then
    redis.call('pexpire', key, ttl)
end
