-- SPDX-License-Identifier: Apache-2.0
--[[
txn_once - return if the dedup record has the number of this call, which was
done before, with its results if they are there; or that of a later call.

key      the dedup record
number   number of this call in its session
]]
local record = call('get', key)
if record then
    local last = record:match('^%d+')
    if last == number then
        return #record > #last and cmsgpack.unpack(record:sub(#last + 2)) or 0
    elseif tonumber(last) > tonumber(number) then
        return -1
    end
end
