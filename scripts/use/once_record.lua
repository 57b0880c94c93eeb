-- SPDX-License-Identifier: Apache-2.0
--[[
once_record - read a record of once: `record` has `until`, `keep`, `tick`,
`token`, `claim`, `digest`, `doubt` and `status` of once_claim, and `ends` is the
first. `ours` is false if there is none, or something else of that name.

key  of the record
]]
local record = redis.pcall('hmget', key,
    'until', 'keep', 'tick', 'token', 'claim', 'digest', 'doubt', 'status')
local ends, ours = record[1], record[5] and record[6] and record[7]
for i = 1, 4 do
    ours = ours and #(record[i] or '') <= 16 and string.find(record[i] or '', '^%d+$')
end
ours = ours and (ends ~= '0' or string.find(record[8] or '', '^%-?%d+$'))
