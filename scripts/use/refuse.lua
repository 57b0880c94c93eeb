--[[
refuse - answer that another owner holds it, and queue the caller.

now      the store's clock, us
began    when the caller began to wait, us; 0: now
inbox    to queue; empty: do not queue
waiters  sorted set of inboxes by when they began to wait
holder   the owner
pttl     remaining time of its lease, ms
]]
local since = began == '0' and now or tonumber(began)
if inbox ~= '' then
    call('zadd', waiters, since, inbox)
    call('pexpire', waiters, 360000)
    return {pttl, holder, since, call('zrank', waiters, inbox)}
end
return {pttl, holder, since}
