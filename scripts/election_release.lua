-- SPDX-License-Identifier: Apache-2.0
--[[
election_release - stop leading: the candidate that has waited longest leads.

KEYS[1]  election (hash): of the leader
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id
ARGV[2]  leave: entry of the caller, which stops waiting; empty: it did not
         wait. This and the rest may be left out
ARGV[3]  entry: the caller's next waiter, to be queued; empty: none
ARGV[4]  began: when that began to wait, us
ARGV[5]  rank: how far to move it forward, us

Returns  1 released; the grant if that waiter leads now; 0 there is no leader,
         or the hash is of something else; -1 another owner leads.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: others may be waiting for it.
Leases   first.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters).
]]
local call = redis.call
local holder = call('hget', KEYS[1], 'owner')
local reply = holder == ARGV[1] and 1 or holder and -1 or 0
local left = (ARGV[2] or '') ~= '' and call('zrem', KEYS[3], ARGV[2])
if reply == 1 and (ARGV[3] or '') ~= '' then
    call('zadd', KEYS[3], ARGV[4] - ARGV[5], ARGV[3])
    call('pexpire', KEYS[3], '360000')
end
if reply == 1 or reply == 0 and left and call('exists', KEYS[1]) == 0 then
    call('del', KEYS[1])
    --#use pick_waiter topic=KEYS[1] last=KEYS[2] waiters=KEYS[3] fits=string.sub(argument,1,1)=='%' own=ARGV[3] note=''
    if grant then
        call('hset', KEYS[1], 'owner', owner, 'text', string.sub(argument, 2), 'term', token)
        call('pexpire', KEYS[1], lease)
    end
end
return reply
