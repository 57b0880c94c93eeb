-- SPDX-License-Identifier: Apache-2.0
--[[
election_proclaim - replace the text of a leader.

KEYS[1]  election (hash): of the leader
ARGV[1]  owner: owner id
ARGV[2]  text: the new one

Returns  1 replaced; 0 there is no leader; -1 another owner leads.
Repeat   safe.
Leases   first.
Writes   KEYS[1]. Cost O(1).
]]
local holder = redis.call('hget', KEYS[1], 'owner')
if not holder then
    return 0
elseif holder ~= ARGV[1] then
    return -1
end
redis.call('hset', KEYS[1], 'text', ARGV[2])
return 1
