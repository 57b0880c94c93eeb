-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_permit - the id of a permit of Redisson, 16 bytes, and the key that has
the ids of all.

semaphore  the key of the semaphore
owner      owner id
id         variable: afterwards that of its permit
timeouts   variable: afterwards the key
]]
id = string.gsub(owner, '-', '0')
id = string.gsub(id, '%x%x', function(digits)
    return string.char(tonumber(digits, 16))
end)
timeouts = string.find(semaphore, '{', 1, true) and semaphore
    or '{' .. semaphore .. '}'
timeouts = timeouts .. ':timeout'
