-- SPDX-License-Identifier: Apache-2.0
--[[
page_change - what the page changes, in one step: a key, if it still is what the
page has shown, and no lease.

KEYS[1]  the key
ARGV[1]  the command: set, pexpire, persist or del
ARGV[2]  the type that was shown; empty: any
ARGV[3]  the clock, us, in 16 digits: the user may not have TIME
ARGV[4]  of pexpire the ms; of set the old value
ARGV[5]  of set the new one, which keeps the time to live
ARGV[6]  of set the field, if it is one of a hash

Returns  how many keys were changed; negative: why none was (query_change.c).

Nor may the user have the state of a barrier, whose name is not known either, so
whatever looks like parties is not changed: `held` asks for the key itself. The
permits of Redisson, in another key, count if the user may read that.
]]
local key, verb, shown = KEYS[1], ARGV[1], ARGV[2]
local function call(command, ...)
    if command == 'time' then
        return {0, '000000', ARGV[3]}
    end
    return redis.call(command, ...)
end
--#use held barrier=key
if kind == 'none' then
    return 0
elseif shown ~= '' and shown ~= kind then
    return -1
elseif held > 0 then
    return -2 - held
elseif kind == 'zset' and tonumber(call('zscore', key, '=') or 0) < 0 then
    return -8
end
if verb == 'pexpire' then
    return call(verb, key, ARGV[4])
elseif verb ~= 'set' then
    return call(verb, key)
end
local old, value, field = ARGV[4], ARGV[5], ARGV[6]
local now
if field then
    now = call('hget', key, field)
else
    now = call('get', key)
end
if not now then
    return 0
elseif now ~= old then
    return -2
elseif not field then
    call('set', key, value, 'keepttl')
    return 1
end
local at = call('hpexpiretime', key, 'fields', 1, field)[1]
local function keep()
    if at > 0 then
        call('hpexpireat', key, at, 'fields', 1, field)
    end
end
keep() -- if that is refused, before anything has changed
call('hset', key, field, value)
keep()
return 1
