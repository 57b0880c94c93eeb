--[[
redisson_number - the number that a latch or semaphore of Redisson holds; fail
if it holds none.

key     the key
number  variable: afterwards the number; nil: there is no key
]]
number = call('get', key)
if number and not string.find(number, '^%-?%d+$') then
    return redis.error_reply('WRONGTYPE the string holds no number')
end
number = number and tonumber(number) or nil
