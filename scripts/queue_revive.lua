-- SPDX-License-Identifier: Apache-2.0
--[[
queue_revive - move dead letters back: each is ready in its old place, or behind
the others of its group, and was never taken.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  waiters (zset): entries by when they began to wait, us
KEYS[3]  items (hash): what is known about the jobs
ARGV[1]  id: of the job; empty: those that are dead letters for longest
ARGV[2]  count: of these, how many at most

Returns  how many were moved. An error WRONGTYPE: the sorted set is not of a
         queue.
Repeat   no: the second run would move others, or one that has failed since.
Writes   all keys. Cost O(moved log jobs + log waiters).
]]
local call = redis.call
--#use queue_open queue=KEYS[1]
local found = {':' .. ARGV[1]}
if ARGV[1] == '' then
    found = call('zrangebyscore', KEYS[1], '6e15', '(7e15', 'limit', 0, ARGV[2])
elseif math.floor((call('zscore', KEYS[1], found[1]) or 0) / 1e15) ~= 6 then
    found = {}
end
for _, member in ipairs(found) do
    local job = string.sub(member, 2)
    local order, behind, group = string.match(call('hget', KEYS[3], '=' .. job) or '',
        '^(%d+) %d+( %d+ %d+ %d+ %d+ )(.*)$')
    call('hset', KEYS[3], '=' .. job, order .. ' 0' .. behind .. group)
    --#use queue_enter queue=KEYS[1] items=KEYS[3] due=0
end
--#use queue_due queue=KEYS[1] items=KEYS[3]
--#use queue_hand queue=KEYS[1] items=KEYS[3] waiters=KEYS[2] own=''
return #found
