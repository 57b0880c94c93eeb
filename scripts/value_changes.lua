-- SPDX-License-Identifier: Apache-2.0
--[[
value_changes - read which values have a revision that is greater than one, and
queue the caller if none has.

KEYS[1]  changes (zset): names by their revision; see use/note_change.lua
KEYS[2]  due (zset): names by when they have expired, Unix ms
KEYS[3]  waiters (zset): inboxes by when they began to wait, us
KEYS[4]  last_token (string): the key of the last fencing token
ARGV[1]  after: the revision
ARGV[2]  limit: how many names at most
ARGV[3]  inbox: to wake when there is a change; empty: do not queue

Returns  {ms until the next of those that are noted expires, or -1, {a name, its
         revision, ...}}, by revision. The empty name: changes up to its revision
         may be missing. All of them, if none has as late a revision as that one:
         the store has lost changes.
Repeat   safe: it reads, and the inbox is queued once.
Writes   all keys. Cost O(names + log waiters).
]]
local call = redis.call
--#use clock
local ms = math.floor(clock / 1000)
if call('zrangebyscore', KEYS[2], '-inf', ms, 'limit', '0', '1')[1] then
    --#use revise last=KEYS[4] changes=KEYS[1] due=KEYS[2] waiters=KEYS[3]
    --#use note_expired changes=KEYS[1] due=KEYS[2] last=KEYS[4]
    --#use wake_all topic=KEYS[1] waiters=KEYS[3]
end
local list = call('zrangebyscore', KEYS[1], '(' .. ARGV[1], '+inf', 'withscores', 'limit', '0', ARGV[2])
if not list[1] and ARGV[1] ~= '0' and
    not call('zrangebyscore', KEYS[1], ARGV[1], '+inf', 'limit', '0', '1')[1] then
    list = call('zrangebyscore', KEYS[1], '-inf', '+inf', 'withscores', 'limit', '0', ARGV[2])
end
if not list[1] and ARGV[3] ~= '' then
    call('zadd', KEYS[3], clock, ARGV[3])
    call('pexpire', KEYS[3], '360000')
end
local next = call('zrangebyscore', KEYS[2], '-inf', '+inf', 'withscores', 'limit', '0', '1')[2]
return {next and math.max(next - ms, 1) or -1, list}
