--[[
issue_token - issue the next fencing token: the time, or the last token and one.
A last token that is not an integer in 1..2^53-1 counts as lost. If there is no
larger token, nothing changes and `now` is 2^53: the script undoes what it did
and uses no_token.

last     key of the last fencing token
now      variable: the store's clock, us; afterwards the token
]]
local stored = redis.pcall('set', last, now, 'get', 'px', 604800000)
if stored then
    local token = tonumber(stored)
    if not token then
        call('set', last, now, 'px', 604800000)
    elseif token >= now and token < 2^53 and token % 1 == 0 then
        now = token + 1
        call('set', last, now < 2^53 and now or token, 'px', 604800000)
    end
end
