-- SPDX-License-Identifier: Apache-2.0
--[[
keep_readers - let the key of a lock live as long as its readers. It gets a
quarter of a lease more, so that this is seldom needed; then those whose leases
have ended are removed, too. A sorted set that has no expiry is another one.

lock   key of the lock
owner  of the caller, who reads
ttl    of the lease, ms: a number
clock  the store's clock, us, in 16 digits
]]
local left = call('pttl', lock)
if left == -1 and call('zcard', lock) > 1 then
    call('zrem', lock, owner)
    return redis.error_reply('WRONGTYPE the key holds another sorted set')
elseif left < ttl then
    call('pexpire', lock, ttl + math.ceil(ttl / 4))
    call('zremrangebyscore', lock, '(-' .. clock, -1e12)
end
