-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_mode - the mode of a read-write lock of Redisson; fail if a hash has
none.

lock  the key
mode  variable: afterwards read, write, or false: it is free
]]
mode = call('hget', lock, 'mode')
if not mode and call('exists', lock) == 1 then
    return redis.error_reply('WRONGTYPE the hash has no field "mode": it is no '
        .. 'read-write lock of Redisson')
end
