-- SPDX-License-Identifier: Apache-2.0
--[[
member_expire - after a write: until when the keys of a set or a rank live.
While some members have deadlines the keys have a time to live only if each
member that was added here has one, and not a shorter one: a longer deadline
extends it, a member without one removes it, and so does the write that removes the
last deadline. Without deadlines it is the user's.
A key that has none may have members that stay; so it gets one only where there
are few deadlines, and no member is without.

A time that has passed meanwhile deletes a key at once: so that of the deadlines
is set first, as without them all members would stay.

had     how many deadlines there were before
fresh   there was no such key
stays   a member that was named has no deadline
last    latest deadline that was set, ms; nil: none was
now_ms  the store's clock, ms
count   command that counts the members of the key: 'scard' or 'zcard'
find    command that finds members: 'smismember' or 'zmscore'
key     set or sorted set of members
due     sorted set of members by deadline
]]
local left = fresh and 0 or call('pttl', key)
if had > 0 and (stays or call('zcard', due) == 0) then
    last = nil
    call('persist', key)
    call('persist', due)
elseif left == -1 then
    local size, timed = call(count, key), call('zcard', due)
    last = timed >= size and timed <= 100 and call('zrevrange', due, '0', '0', 'withscores')[2]
    local names = last and call('zrange', due, '0', '-1')
    for _, there in ipairs(last and call(find, key, unpack(names)) or {}) do
        size = there and there ~= 0 and size - 1 or size
    end
    last = size == 0 and last
end
if last then
    last = tonumber(last)
    local later = left == -1 or left < last - now_ms
    call('pexpireat', due, later and last or now_ms + left + 1)
    if later then
        call('pexpireat', key, last)
    end
end
