-- SPDX-License-Identifier: Apache-2.0
--[[
lock_acquire_all - take locks, in their order up to the first that is not free,
and issue a fencing token for each. A lock for which others wait is not free.

KEYS[1]  last_token (string): last fencing token of this store, or of the slot
KEYS[2...]  locks: n locks (string), then the wait queue (zset) of each
ARGV[1]  all: 1: take all or none
ARGV[2...]  owners: owner id and lease in ms of each lock

Returns  {count of the locks that were taken, token of the first}; each token is
         larger by 1 than the one before it. {i, 0} if none was taken, as lock
         i + 1 is not free. An error HFTOKEN: there are no larger tokens.
Repeat   safe: the same owners get larger tokens, and their leases start again.
Leases   others.
Writes   KEYS. Cost O(n); callers send at most 128.
]]
local call = redis.call
local owners = {unpack(ARGV, 2)}
local n, taken, marks = #owners / 2, 0, {}
for at = 2, #KEYS do
    local holder = redis.pcall('get', KEYS[at])
    if type(holder) == 'table' and not redis.pcall('zrangebyscore', KEYS[at],
        '-inf', '(0', 'limit', 0, 1)[1] then
        return holder
    end
    local queue, turn = at + n, true
    if not holder and call('zcard', KEYS[queue]) > 0 then
        --#use ask_head topic=KEYS[at] waiters=KEYS[queue] own='' since=math.huge pop=true
    end
    if holder and (type(holder) == 'table'
            or string.sub(holder, 1, 32) ~= owners[2 * at - 3])
        or not turn then
        break
    end
    taken = taken + 1
    marks[taken] = string.match(holder or '', '%+$') or ''
    if taken == n then
        break
    end
end
if taken == 0 or taken < n and ARGV[1] == '1' then
    return {taken, 0}
end
local token
--#use clock
--#use issue_token last=KEYS[1]
local first = tonumber(token)
if not first or first + taken > 2^53 then
    --#use no_token
end
call('set', KEYS[1], string.format('%.0f', first + taken - 1), 'px', '604800000')
for at = 2, taken + 1 do
    token = string.format('%.0f', first + at - 2)
    --#use lock_value lock=KEYS[at] owner=owners[2*at-3] waited=false mark=marks[at-1] ttl=owners[2*at-2]
end
return {taken, first}
