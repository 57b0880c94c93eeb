-- SPDX-License-Identifier: Apache-2.0
--[[
leave_gap - ask the waiter that has waited longest to try after a gap, in which
the lock is left to other libraries. Until 20 ms after its end its score is
-10^16 less that instant, in us, by which lock_acquire refuses others. One that
was killed no longer listens and is removed, up to 128.

topic    the name
waiters  sorted set of entries
gap      ms
note     what the message says behind it: begins with a blank; or empty
reply    variable: 2 if one was asked
]]
--#use clock
local ends = string.format('-1%.0f', clock + gap * 1000 + 20000)
for _ = 1, 128 do
    local head = call('zpopmin', waiters)[1]
    local inbox = head and string.match(head, ' (.+)%-%x+$')
    if not inbox then
        break
    end
    redis.pcall('zadd', waiters, ends, head)
    redis.pcall('pexpire', waiters, '360000')
    if redis.pcall('publish', inbox, 'gap ' .. gap .. note .. '\0' .. topic) ~= 0 then
        reply = 2
        break
    end
    call('zrem', waiters, head)
end
