-- SPDX-License-Identifier: Apache-2.0
--[[
cache_lease - take the lease on filling a cache entry, if the entry has not
changed since the caller looked at it.

KEYS[1]  key: the value
KEYS[2]  meta: what is known about it
KEYS[3]  fill: the token of the fill under way, expiring with its lease; after
         it has failed, behind a `!` if no other may begin, or between a `?` and
         its status
KEYS[4]  waiters: sorted set of inboxes by when they began to wait, ms
KEYS[5...]  tags: version of each tag of the new value
ARGV[1]  token: of the caller's fill; empty: only report the time
ARGV[2]  seen: `meta` as the caller saw it; empty: no value
ARGV[3]  lease: ms
ARGV[4]  keep: how long the tags must live, ms
ARGV[5]  inbox: to wake if there is a fill under way; empty: do not wait
ARGV[6]  waited: 1: for a fill, and a failure of it counts; empty

Returns  {state, store's clock in ms}. State 0: the entry has changed, or there
         is no token. 1: the lease is the caller's; the versions of the tags
         follow. 2: a fill is under way, 3: one has failed; pttl follows. 4: one
         has failed for those that waited; its status follows.
Repeat   safe: the same token gets the same lease.
Writes   KEYS[3], KEYS[4], KEYS[5...]. Cost O(tags + log waiters).
]]
local call = redis.call
local size = call('strlen', KEYS[1])
local meta = call('get', KEYS[2]) or ''
local holder = call('get', KEYS[3])
local now = call('time')
now = now[1] * 1000 + math.floor(now[2] / 1000)
if ARGV[1] == '' then
    return {0, now}
end
local failure = string.match(holder or '', '^%?%x+ (%d+)$')
if failure and ARGV[6] == '1' then
    return {4, now, tonumber(failure)}
end
holder = not failure and holder
if holder ~= ARGV[1] then
    if meta ~= ARGV[2] or meta == '' and size > 0 then
        return {0, now}
    end
    if holder then
        if ARGV[5] ~= '' then
            call('zadd', KEYS[4], now, ARGV[5])
            call('pexpire', KEYS[4], '360000')
        end
        local failed = string.sub(holder, 1, 1) == '!'
        return {failed and 3 or 2, now, call('pttl', KEYS[3])}
    end
end
call('set', KEYS[3], ARGV[1], 'px', ARGV[3])
local reply = {1, now}
for i = 5, #KEYS do
    local version = ARGV[1]
    --#use tag_version tag=KEYS[i] token=ARGV[1] keep=ARGV[4]
    reply[i - 2] = version
end
return reply
