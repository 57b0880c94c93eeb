-- SPDX-License-Identifier: Apache-2.0
--[[
set_add - add members to a set, all with one time to live.

KEYS[1]  set (set): members
KEYS[2]  due (zset): those that expire, by deadline, ms
ARGV[1]  condition: nx: only members that are not there; xx: only those that
         are; else empty
ARGV[2]  ttl: their time to live, ms; 0: members keep theirs, new ones get none
ARGV[3]  keep_ttl: 1: only new members get the time to live; else 0
ARGV[4...]  members: to add

Returns  how many are new.
Repeat   no: the second run would find none new, and a change of another client
         in between would be lost.
Writes   KEYS[1], KEYS[2]. Cost O(log members) for each; of the members that are
         due up to 16 more than are named are removed.
]]
local call = redis.call
--#use timeline_clock
--#use member_open count='scard' key=KEYS[1] due=KEYS[2]
local names, added, gone, stays, last = {unpack(ARGV, 4)}, 0, {}, false, nil
local there = call('smismember', KEYS[1], unpack(names))
local ends = call('zmscore', KEYS[2], unpack(names))
local chosen, late, bare, timed = {}, {}, {}, {}
for i, name in ipairs(names) do
    local is_late = there[i] == 1 and ends[i] and tonumber(ends[i]) <= now_ms
    local live = there[i] == 1 and not is_late
    if not (ARGV[1] == 'nx' and live or ARGV[1] == 'xx' and not live) then
        chosen[#chosen + 1] = name
        if is_late then
            late[#late + 1] = name
        end
        if ARGV[2] ~= '0' and not (live and ARGV[3] == '1') then
            last = now_ms + ARGV[2]
            timed[#timed + 1] = last
            timed[#timed + 1] = name
        elseif not live then
            bare[#bare + 1], stays = name, true
        else
            stays = stays or not ends[i]
        end
    end
end
added = #chosen > 0 and call('sadd', KEYS[1], unpack(chosen)) or 0
added = added + (#late > 0 and call('zrem', KEYS[2], unpack(late)) or 0)
local _ = #bare > 0 and call('zrem', KEYS[2], unpack(bare))
_ = #timed > 0 and call('zadd', KEYS[2], unpack(timed))
--#use member_drop remove='srem' most=#names+16 key=KEYS[1] due=KEYS[2]
--#use member_expire count='scard' find='smismember' key=KEYS[1] due=KEYS[2]
return added
