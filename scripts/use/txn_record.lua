-- SPDX-License-Identifier: Apache-2.0
--[[
txn_record - record that this call was done, and its results. If it may not be
written, nothing else was: a server refuses no write after the first one.

key      the dedup record
number   number of this call in its session
ttl      of the record, ms
results  what the operations returned
]]
if number ~= '' then
    local text = cmsgpack.pack(results)
    text = #text <= 65536 and number .. ' ' .. text or number
    redis.pcall('set', key, text, 'px', ttl)
end
