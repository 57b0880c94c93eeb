-- SPDX-License-Identifier: Apache-2.0
--[[
queue_list - the jobs of a queue that are in one state, in their order.

KEYS[1]  queue (zset): jobs by state; see use/queue_open.lua
KEYS[2]  items (hash): what is known about the jobs
ARGV[1]  from: lowest score of the state
ARGV[2]  to: highest
ARGV[3]  offset: how many to leave out
ARGV[4]  count: how many to return at most

Returns  a flat list {id, payload, how often it was taken, how often at most,
         order, when it was put, ms, group, ...}, of at most 16 MiB of payload, but
         for the first. A job whose lease has ended, or
         that is due, is where it was until a call moves it. An error WRONGTYPE:
         the sorted set is not of a queue.
Repeat   safe.
Writes   nothing. Cost O(log jobs + offset + count).
]]
local call = redis.call
--#use queue_open queue=KEYS[1]
local list, size = {}, 0
for _, member in ipairs(call('zrangebyscore', KEYS[1], ARGV[1], ARGV[2],
        'limit', ARGV[3], ARGV[4])) do
    local job = string.sub(member, 1, 1) == ':' and member or call('hget', KEYS[2], member) or ''
    job = string.sub(job, 2)
    local order, tries, most, put, group = string.match(call('hget', KEYS[2], '=' .. job) or '',
        '^(%d+) (%d+) (%d+) (%d+) %d+ %d+ (.*)$')
    local payload = call('hget', KEYS[2], ':' .. job) or ''
    size = size + #payload
    if size > 16777216 and list[1] then
        break
    end
    if order then
        for _, word in ipairs({job, payload, tonumber(tries),
                tonumber(most), tonumber(order), tonumber(put), group}) do
            list[#list + 1] = word
        end
    end
end
return list
