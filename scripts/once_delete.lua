-- SPDX-License-Identifier: Apache-2.0
--[[
once_delete - forget whether work was done: the waiter that has waited longest
has the claim, else the next that comes.

KEYS[1]  once (hash): the record, see use/once_claim.lua
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us

Returns  1 deleted; 0 there was none. An error WRONGTYPE: the hash is no such
         record.
Repeat   no: it could delete the next claim.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters).
]]
local call = redis.call
--#use once_ours key=KEYS[1]
local reply = ours and 1 or 0
if ours then
    --#use once_pass record=KEYS[1] last=KEYS[2] waiters=KEYS[3]
end
return reply
