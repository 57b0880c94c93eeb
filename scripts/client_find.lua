-- SPDX-License-Identifier: Apache-2.0
--[[
client_find - read a client's registration.

KEYS[1]  registration (string): what client_register wrote

Returns  {the registration or nil, the store's Unix time in ms}.
Repeat   safe.
Writes   nothing. Cost O(1).
]]
local found = redis.call('get', KEYS[1])
local now = redis.call('time')
return {found, now[1] * 1000 + math.floor(now[2] / 1000)}
