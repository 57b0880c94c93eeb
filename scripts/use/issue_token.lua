--[[
issue_token - turn the time into the next fencing token. What is no token, an
integer in 1..2^53-1, counts as a token that was lost. Is no larger token left,
nothing is stored and `now` is 2^53: the script undoes what it did and answers
with no_token.

last     key of the last fencing token
now      local variable: the store's clock, us; the token afterwards
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
