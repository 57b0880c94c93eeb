-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_number - the number that a latch or semaphore of Redisson holds; fail
if it holds none, or one that is not exact in Lua.

key     the key
number  variable: afterwards the number; nil: there is no key
]]
number = call('get', key)
if number and not (string.find(number, '^%-?%d+$')
    and math.abs(number) <= 9007199254740991) then
    return redis.error_reply('WRONGTYPE the string holds no number')
end
number = number and tonumber(number) or nil
