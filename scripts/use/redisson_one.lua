-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_one - fail if a hash has not one field as a lock of Redisson has.

lock     the key
]]
if redis.call('hlen', lock) > 1 then
    return redis.error_reply('WRONGTYPE the hash has several fields: it is a '
        .. 'read-write lock of Redisson, or none of its locks')
end
