-- SPDX-License-Identifier: Apache-2.0
--[[
lock_release - release the lock: give it to the waiter that has waited longest,
or free it.

KEYS[1]  lock (string): the lock
KEYS[2]  last_token (string): last fencing token of this store, or of the slot
KEYS[3]  waiters (zset): entries by when they began to wait, us
ARGV[1]  owner: owner id; or the value that the caller expects, an owner id, `=`
         and its token, which costs less to compare
ARGV[2]  leave: entry of the caller, which stops waiting; empty: it did not
         wait. This and the rest may be left out
ARGV[3]  entry: the caller's next waiter, to be queued; empty: none
ARGV[4]  began: when that began to wait, us
ARGV[5]  rank: how far to move it forward, us
ARGV[6]  gap: ms; leave the lock free for other libraries for so long, and ask
         the waiter to try afterwards; empty: do not
ARGV[7]  turns: what the message to the waiter says behind the grant or the gap

Returns  1 released; 2 released, and a waiter was asked to try after the gap; the
         grant if that waiter has it now; 0 the lock is free; -1 another owner
         holds it.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: acquires may be waiting for it.
Quorum   count.
Leases   first.
Writes   KEYS[1], KEYS[2], KEYS[3]. Cost O(log waiters).
]]
local call = redis.call
local holder = redis.pcall('get', KEYS[1])
if holder == ARGV[1] and not ARGV[2] then
    call('del', KEYS[1])
    return 1
end
local leave, entry = ARGV[2] or '', ARGV[3] or ''
local own = holder == ARGV[1] or type(holder) == 'string'
    and string.sub(holder, 1, 32) == (string.match(ARGV[1], '^(.*)=%d+$') or ARGV[1])
if leave == '' and entry == '' and own and not string.find(holder, '%+$') then
    call('del', KEYS[1])
    return 1
end
local shared = type(holder) == 'table' and redis.pcall('zcard', KEYS[1])
if type(shared) == 'table' then
    return shared
end
local mine = own or holder and holder == string.sub(leave, -32) .. '+'
local reply = mine and 1 or holder and -1 or 0
local left = leave ~= '' and call('zrem', KEYS[3], leave)
if reply == 1 and entry ~= '' then
    call('zadd', KEYS[3], ARGV[4] - ARGV[5], entry)
    call('pexpire', KEYS[3], '360000')
end
shared = shared and left
if reply == 1 or reply == 0 and left then
    local note = ARGV[7] and ' ' .. ARGV[7] or ''
    if (ARGV[6] or '') ~= '' then
        call('del', KEYS[1])
        --#use leave_gap topic=KEYS[1] waiters=KEYS[3] gap=ARGV[6] note=note
    else
        --#use hand_over lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=entry note=note
    end
end
if shared then
    --#use clock
    --#use admit lock=KEYS[1] last=KEYS[2] waiters=KEYS[3] own=entry ping=call('exists',KEYS[1])==0 pop=nil
end
return reply
