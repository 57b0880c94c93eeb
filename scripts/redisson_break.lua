-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_break - take a lock or a permit of Redisson from one of those that hold
it. The others keep theirs.

KEYS[1]  lock: a lock or semaphore of Redisson
KEYS[2]  unused_token: for the form of lock_inspect
KEYS[3]  unused_waiters: likewise
ARGV[1]  owner: owner id; of a permit its id in hexadecimal, or the owner id
ARGV[2]  verb: publish or spublish

Returns  1 it was held; 0 that owner does not hold it.
Repeat   no: a Java thread may have acquired it again.
Writes   KEYS[1], the keys of the reader or permit. Cost O(holders).
]]
local call = redis.call
local holder, at, longest, heard = redis.pcall('get', KEYS[1])
--#use redisson_look lock=KEYS[1] only=nil
local wanted = sort == 2 and string.gsub(ARGV[1], '-', '0') or ARGV[1]
for i, owner in ipairs(owners) do
    if owner == wanted then
        at = i
    elseif lefts[i] > (longest or 0) then
        longest = lefts[i]
    end
end
if not at then
    return 0
elseif not longest then
    --#use redisson_free lock=KEYS[1] verb=ARGV[2]
elseif sort == 2 then
    local id = string.gsub(wanted, '%x%x', function(digits)
        return string.char(tonumber(digits, 16))
    end)
    call('zrem', braced .. ':timeout', id)
    local free = call('incr', KEYS[1])
    --#use redisson_publish verb=ARGV[2] channel='redisson_sc:'..braced message=free
else
    for i = 1, math.min(tonumber(call('hget', KEYS[1], wanted)) or 1, 1000) do
        call('del', braced .. ':' .. wanted .. ':rwlock_timeout:' .. i)
    end
    call('hdel', KEYS[1], wanted)
    call('pexpire', KEYS[1], longest)
end
return 1
