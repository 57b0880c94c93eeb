-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_publish - send a message on a channel of Redisson. Without permission
the waiters find out by polling.

verb     spublish: sharded
channel  its name
message  text
heard    variable: afterwards how many clients have received it
]]
if verb == 'spublish' then
    heard = redis.pcall('spublish', channel, message)
else
    heard = redis.pcall('publish', channel, message)
end
heard = tonumber(heard) or 0
