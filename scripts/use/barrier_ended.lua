-- SPDX-License-Identifier: Apache-2.0
--[[
barrier_ended - return if the generation that the caller waits in has ended, or
if the caller no longer waits: its lease has ended, with those of all that
waited. Afterwards `generation` is the current one; 0: the barrier has no state.

parties  sorted set of the parties that wait
state    hash
passed   sorted set of the parties of the last generation that ended
party    the caller
waits    the generation that it waits in; 0: it does not know
]]
local generation = tonumber(call('hget', state, 'generation') or 0)
if generation == 0 and call('exists', parties) == 1 then
    return redis.error_reply('WRONGTYPE it is not a barrier')
end
local mine = tonumber(waits)
if mine == 0 and call('zscore', passed, party) then
    mine = generation - 1
end
if mine > 0 and mine == tonumber(call('hget', state, 'passed') or 0)
        and call('zscore', passed, party) then
    return {1, mine, call('hget', state, 'last') == party and 1 or 0}
elseif mine > 0 and (mine ~= generation or not call('zscore', parties, party)
        or mine <= tonumber(call('hget', state, 'failed') or 0)) then
    return {2, mine, 0}
end
