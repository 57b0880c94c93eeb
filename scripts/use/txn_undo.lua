-- SPDX-License-Identifier: Apache-2.0
--[[
txn_undo - restore what the operations up to the i-th have changed, and return
the error of the i-th.

first    the first key of the operations, in KEYS
to       the last key of the i-th
saved    the old contents; false: there was no such key
ttls     times to live
reply    the error, or the text of one
i        number of the operation that failed
]]
for at = first, to do
    local key = KEYS[at]
    local old = saved[key]
    if old then
        call('restore', key, ttls[key], old, 'replace')
    elseif old == false then
        call('del', key)
    end
    saved[key] = nil
end
local text = type(reply) == 'table' and reply.err or tostring(reply)
if not text:find('^%u%u+ ') then
    text = 'ERR ' .. text
end
return {err = text:sub(1, 150) .. ' [op ' .. i .. ']'}
