-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_refuse - before a write of a timeline: return an error HFHELD if the
sorted set is a lease that is held, WRONGTYPE if it is a rank or anything else.
A timeline has positions.

timeline  sorted set of ids by time
order     sorted set of positions
]]
if call('zcard', order) == 0 then
    --#use refuse_held key=timeline barrier=nil
    if kind == 'zset' then
        return redis.error_reply('WRONGTYPE the sorted set is not a timeline')
    end
end
