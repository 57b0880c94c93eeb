-- SPDX-License-Identifier: Apache-2.0
--[[
refuse_no_barrier - return an error WRONGTYPE if the parties of a barrier are
owners of leases: those of a semaphore are a sorted set too.

parties  a sorted set, or absent
]]
local one = call('zrangebyscore', parties, '-inf', '+inf', 'limit', 0, 1)[1]
if one and string.find(one, '-', 1, true) then
    return redis.error_reply('WRONGTYPE it is not a barrier')
end
