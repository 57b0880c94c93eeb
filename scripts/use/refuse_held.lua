-- SPDX-License-Identifier: Apache-2.0
--[[
refuse_held - return an error HFHELD if a key is a lease that is held, or a
barrier where parties wait.

key      of any type
barrier  state of a barrier of that name; nil: that is not looked for
]]
--#use held
if held > 0 then
    return redis.error_reply('HFHELD the key is ' .. ({'a lock that is held',
        'a semaphore whose permits are held', 'an election that has a leader',
        'a barrier at which parties wait', 'a claim that is held'})[held])
end
