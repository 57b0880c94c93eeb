-- SPDX-License-Identifier: Apache-2.0
--[[
lock_holders - who holds a lock: its owner, its readers, or those who hold
permits.

KEYS[1]  lock (string): the lock; or a sorted set, of readers or permits; or a lock
         or semaphore of Redisson
ARGV[1]  limit: how many to return at most
ARGV[2]  redisson: 1: fail if it is no lock of Redisson

Returns  a flat list {owner, remaining ms, permits, token, ...}. The token is
         empty if it is unknown, as of readers and permits.
Repeat   safe.
Writes   nothing. Cost O(holders).
]]
local call = redis.call
local holder = redis.pcall('get', KEYS[1])
--#use redisson_look lock=KEYS[1] only=ARGV[2]
if owners[1] then
    local list = {}
    for i = 1, math.min(#owners, ARGV[1]) do
        list[4 * i - 3] = owners[i]
        list[4 * i - 2] = lefts[i]
        list[4 * i - 1] = 1
        list[4 * i] = fence
    end
    return list
end
if type(holder) ~= 'table' then
    --#use lock_owner value=holder
    return owner and {owner, call('pttl', KEYS[1]), 1, token} or {}
end
--#use list_holders lock=KEYS[1] limit=ARGV[1]
return list
