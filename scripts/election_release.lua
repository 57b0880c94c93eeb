--[[
election_release - stop leading, and wake the candidate that has waited longest.

KEYS[1]  election (hash): of the leader
KEYS[2]  waiters (zset): inboxes
ARGV[1]  owner: owner id

Returns  1 released; 0 there is no leader; -1 another owner leads.
Repeat   safe: owner ids are never used twice, so a second run finds 0 or -1.
Lane     lease: others may be waiting for it.
Writes   KEYS[1], KEYS[2]. Cost O(log waiters).
]]
local call = redis.call
local holder = call('hget', KEYS[1], 'owner')
if not holder then
    return 0
elseif holder ~= ARGV[1] then
    return -1
end
call('del', KEYS[1])
--#use wake topic=KEYS[1] waiters=KEYS[2]
return 1
