-- SPDX-License-Identifier: Apache-2.0
--[[
client_register - record which process a client is.

KEYS[1]  registration (string): of the client
ARGV[1]  age: how long the client has been open, ms
ARGV[2]  about: lines that describe the process
ARGV[3]  ttl: of the registration, ms

Returns  1.
Repeat   safe: a second run writes the same, with an opening time later by the
         time between the two runs.
Writes   KEYS[1]: when the client was opened, Unix ms of the store's clock, and
         the lines. Cost O(1).
]]
local now = redis.call('time')
local opened = now[1] * 1000 + math.floor(now[2] / 1000) - ARGV[1]
redis.call('set', KEYS[1], string.format('%.0f\n%s', opened, ARGV[2]),
    'px', ARGV[3])
return 1
