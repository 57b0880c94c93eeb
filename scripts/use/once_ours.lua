-- SPDX-License-Identifier: Apache-2.0
--[[
once_ours - as once_record, or return an error WRONGTYPE if there is something
else of that name.

key  of the record
]]
--#use once_record
if not ours and call('exists', key) == 1 then
    return redis.error_reply('WRONGTYPE the key is not a record of once')
end
