-- SPDX-License-Identifier: Apache-2.0
--[[
once_complete - store the result of work, which ends its claim, and wake all
that wait for it. The lease may have ended, as long as no one else has claimed
the work.

KEYS[1]  once (hash): the record, see use/once_claim.lua
KEYS[2]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  status: a number
ARGV[3]  result: any bytes

Returns  1 stored; 0 there is no record; -1 another owner has the claim. An
         error WRONGTYPE: the hash is no such record.
Repeat   safe: the same owner stores the same again.
Lane     lease: others may be waiting for it.
Writes   KEYS[1], KEYS[2]. Cost O(waiters + result). PEXPIRE comes before HSET: a
         script that has written is not stopped by maxmemory.
]]
local call = redis.call
--#use once_ours key=KEYS[1]
if not ours or record[5] ~= ARGV[1] then
    return ours and -1 or 0
end
call('pexpire', KEYS[1], record[2])
call('hset', KEYS[1], 'until', '0', 'status', ARGV[2], 'result', ARGV[3])
--#use ask_all topic=KEYS[1] waiters=KEYS[2]
return 1
