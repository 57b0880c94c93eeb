-- SPDX-License-Identifier: Apache-2.0
--[[
once_release - give a claim back, as its work has failed and may be done again:
the waiter that has waited longest has it. If an earlier claim ended without a
result, the work is in doubt as before instead, and all waiters are woken.

KEYS[1]  once (hash): the record, see use/once_claim.lua
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  leave: entry of the caller, which stops waiting; empty: it did not
         wait. May be left out

Returns  1 given back; 0 there is no record; -1 it is done, or another owner has
         the claim. An error WRONGTYPE: the hash is no such record.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: others may be waiting for it.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters); in doubt O(waiters).
]]
local call = redis.call
local left = (ARGV[2] or '') ~= '' and call('zrem', KEYS[3], ARGV[2])
--#use once_ours key=KEYS[1]
local mine = ours and record[5] == ARGV[1] and ends ~= '0'
local reply = mine and 1 or ours and -1 or 0
if mine and record[7] == '1' then
    call('hset', KEYS[1], 'claim', '-', 'until', '1')
    --#use ask_all topic=KEYS[1] waiters=KEYS[3]
elseif mine or reply == 0 and left then
    --#use once_pass record=KEYS[1] last=KEYS[2] waiters=KEYS[3]
end
return reply
