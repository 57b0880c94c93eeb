-- SPDX-License-Identifier: Apache-2.0
--[[
readers - which of the readers of a lock holds it longest. Those whose leases
have ended are removed.

lock    key of the lock, which is not a string
clock   the store's clock, us, in 16 digits
holder  variable: afterwards its owner id, or nil: none is left
pttl    variable: afterwards the remaining time of its lease, ms
]]
local ended = call('zrangebyscore', lock, '(-' .. clock, -1e12, 'limit', 0, 1)
if ended[1] and #ended[1] == 32 then
    call('zremrangebyscore', lock, '(-' .. clock, -1e12)
end
local first = call('zrangebyscore', lock, '-inf', '-' .. clock, 'withscores',
    'limit', 0, 1)
holder = first[1]
pttl = holder and math.ceil((-first[2] - clock) / 1000)
