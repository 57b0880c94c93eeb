-- SPDX-License-Identifier: Apache-2.0
--[[
cache_renew - renew the lease of a fill.

KEYS[1]  fill: the token of the fill under way
KEYS[2...]  tags: version of each tag of the new value
ARGV[1]  token: of the caller's fill
ARGV[2]  lease: ms
ARGV[3]  keep: how long the tags must live, ms

Returns  1 renewed; 0 the lease was lost.
Repeat   safe: the lease begins again.
Lane     lease: it may end meanwhile.
Writes   the expiry of all keys. Cost O(tags).
]]
local call = redis.call
if call('get', KEYS[1]) ~= ARGV[1] then
    return 0
end
call('pexpire', KEYS[1], ARGV[2])
for i = 2, #KEYS do
    local pttl = call('pttl', KEYS[i])
    if pttl >= 0 and pttl < tonumber(ARGV[3]) then
        call('pexpire', KEYS[i], ARGV[3])
    end
end
return 1
