-- SPDX-License-Identifier: Apache-2.0
--[[
issue_token - issue the next fencing token: the time, or the last token and one.
A last token that is not an integer in 1..2^53-1 counts as lost. If there is no
larger token, nothing changes, and `token` is false. Most are issued without
converting a number: texts of the same size are in the order of their numbers.

last   key of the last fencing token
clock  the store's clock, us, in 16 digits
token  variable: afterwards the token, in decimal
]]
local stored = redis.pcall('set', last, clock, 'get', 'px', '604800000')
token = clock
if stored and not (#stored == #clock and stored < clock) then
    local number = tonumber(stored)
    if not number then
        call('set', last, clock, 'px', '604800000')
    elseif number >= tonumber(clock) and number < 2^53 and number % 1 == 0 then
        token = number + 1 < 2^53 and string.format('%.0f', number + 1)
        call('set', last, token or stored, 'px', '604800000')
    end
end
