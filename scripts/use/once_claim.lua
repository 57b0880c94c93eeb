-- SPDX-License-Identifier: Apache-2.0
--[[
once_claim - store a claim, in place of what the record had.

record  its key: a hash with `claim`, the owner id; `until`, the end of its lease,
        us of the store's clock, 0: it is done; `digest`, `keep` and `tick` of
        once_terms; `doubt`, 1: an earlier claim ended without a result;
        `token`; and, once it is done, `status` and `result`
owner   owner id
ttl     of the lease, ms
clock   the store's clock, us, in 16 digits
token   fencing token, in decimal
digest   and keep, tick, doubt: as above
]]
call('hset', record, 'claim', owner, 'until', clock + ttl * 1000, 'digest', digest,
    'keep', keep, 'tick', tick, 'doubt', doubt, 'token', token)
call('hdel', record, 'status', 'result')
call('pexpire', record, ttl + keep)
