-- SPDX-License-Identifier: Apache-2.0
--[[
cache_put - store a cache entry, end the fill under way and wake all waiters.

KEYS[1]  key: the value
KEYS[2]  meta: what is known about it
KEYS[3]  fill: the token of the fill under way
KEYS[4]  waiters: sorted set of inboxes
KEYS[5...]  tags: version of each tag
ARGV[1]  token: unique to this call, or to its fill
ARGV[2]  value: the bytes
ARGV[3]  kind: value, or absent: remember that there is none
ARGV[4]  keep: time to live of value and meta, ms
ARGV[5]  fresh: how long it is fresh, ms
ARGV[6]  stale: how long it may then be returned while a fill is under way, ms
ARGV[7]  error: how long it may then be returned after a fill has failed, ms
ARGV[8]  took: how long the fill took, ms
ARGV[9]  names: the tags, each as size, colon, bytes; `-`: store no meta
ARGV[10]  versions: of the tags when the fill began, a blank before each; `-`:
         this is not the end of a fill

Returns  1 stored; 0 refused: the fill lost its lease, or a tag was invalidated.
         An error HFHELD: the key is a lock that is held.
Repeat   no: a second run may replace a later value.
Writes   all keys. Cost O(tags + waiters).
]]
local call = redis.call
local size = call('strlen', KEYS[1])
--#use refuse_held_string key=KEYS[1]
local leased = ARGV[10] ~= '-'
if leased and call('get', KEYS[3]) ~= ARGV[1] then
    return 0
end
local versions = ''
for i = 5, #KEYS do
    local version = ARGV[1]
    if leased and call('exists', KEYS[i]) == 0 then
        version = ''
    else
        --#use tag_version tag=KEYS[i] token=ARGV[1] keep=ARGV[4]
    end
    versions = versions .. ' ' .. version
end
if leased and versions ~= ARGV[10] then
    call('del', KEYS[3])
    --#use wake_all topic=KEYS[1] waiters=KEYS[4]
    return 0
end
if ARGV[3] == 'value' then
    call('set', KEYS[1], ARGV[2], 'px', ARGV[4])
else
    call('del', KEYS[1])
end
if ARGV[9] == '-' then
    call('del', KEYS[2])
else
    local now = call('time')
    now = now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[5]
    call('set', KEYS[2], string.format('1 %s %s %.0f %.0f %.0f %s%s\n%s',
        ARGV[1], ARGV[3], now, now + ARGV[6], now + ARGV[7], ARGV[8],
        versions, ARGV[9]), 'px', ARGV[4])
end
call('del', KEYS[3])
--#use wake_all topic=KEYS[1] waiters=KEYS[4]
return 1
