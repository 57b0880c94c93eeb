-- SPDX-License-Identifier: Apache-2.0
--[[
election_inspect - who leads, since which term, for how long, with which text.

KEYS[1]  election (hash): of the leader
KEYS[2]  waiters (zset): inboxes of candidates

Returns  {pttl, count of waiters} and, if there is a leader, its owner, term and
         text. An error WRONGTYPE: the hash is not of an election.
Repeat   safe.
Writes   nothing. Cost O(1).
]]
local reply = {redis.call('pttl', KEYS[1]), redis.call('zcard', KEYS[2])}
local leader = redis.call('hmget', KEYS[1], 'owner', 'term', 'text')
if leader[1] then
    for i = 1, 3 do
        reply[i + 2] = leader[i] or ''
    end
elseif reply[1] ~= -2 then
    return redis.error_reply('WRONGTYPE the hash is not of an election')
end
return reply
