-- SPDX-License-Identifier: Apache-2.0
--[[
rank_open - before a write of a rank: return an error HFHELD if the key is a
lease that is held or a barrier where parties wait, WRONGTYPE if it is a timeline
or a work queue; else as member_open. A timeline has positions; those of one that
another program has deleted are removed.

key      sorted set of members by score
due      sorted set of members by deadline
order    sorted set of positions
barrier  state of a barrier of that name
]]
--#use member_open count='zcard'
if call('zcard', order) > 0 then
    if not fresh then
        return redis.error_reply('WRONGTYPE the sorted set is a timeline')
    end
    call('del', order)
elseif not fresh then
    --#use queue_mark
    if mark then
        return redis.error_reply('WRONGTYPE the sorted set is a work queue')
    end
    if had == 0 then
        --#use refuse_held
    end
end
