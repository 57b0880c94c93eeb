--[[
refuse - answer a caller that may not have what it asks for, and queue it.

now      the store's clock, us
began    argument: instant the caller began to wait, us; 0: now
inbox    argument: what to queue; empty: do not queue
waiters  sorted set of inboxes by the instant they began to wait
holder   the owner that is in the way
pttl     how long that owner may hold it, ms
]]
local since = began == '0' and now or tonumber(began)
if inbox ~= '' then
    call('zadd', waiters, since, inbox)
    call('pexpire', waiters, 360000)
    return {pttl, holder, since, call('zrank', waiters, inbox)}
end
return {pttl, holder, since}
