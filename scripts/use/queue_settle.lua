-- SPDX-License-Identifier: Apache-2.0
--[[
queue_settle - the job that an owner has is done, or goes back; afterwards `settled`
says whether it had that job. If it has another, which a take that came late has
given to it after its lease, that goes back as if it had not been taken. ZREM comes
first: a script that has written is not stopped by maxmemory.

queue   key of the queue
items   its hash
ms      the store's clock
holder  who had taken it
what    done; again; dead; or empty: it goes back as if it had not been taken
delay   how long it is not given to anyone, ms; nil: 0
named   id of the job; nil: whatever the owner has
]]
local held, outcome = call('hget', items, holder), what or ''
local job = string.sub(held or '', 2)
local other = (named or job) ~= job
local settled = held and not other
if other then
    outcome = ''
end
call('zrem', queue, holder)
if held and outcome == 'done' then
    --#use queue_end
elseif held then
    local due = other and 0 or tonumber(delay or 0)
    due = due > 0 and ms + due or 0
    if outcome == '' and string.sub(held, 1, 1) == ':' then
        --#use queue_untake
    end
    --#use queue_back dead=outcome=='dead'
end
