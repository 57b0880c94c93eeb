-- SPDX-License-Identifier: Apache-2.0
--[[
refuse_held - return an error HFHELD if a key is a lease that is held.

key  of any type
]]
--#use held barrier=nil
if held > 0 then
    return redis.error_reply('HFHELD the key is ' .. ({'a lock that is held',
        'a semaphore whose permits are held', 'an election that has a leader',
        'a barrier at which parties wait', 'a claim that is held'})[held])
end
