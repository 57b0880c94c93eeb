-- SPDX-License-Identifier: Apache-2.0
--[[
fence - return the highest fencing token seen, if the given one is lower. Fails
if there is anything else than a token: what it was cannot be known.

fence  key of the highest token
token  the given one
]]
local highest = redis.call('get', fence)
if highest then
    local number = string.find(highest, '^[1-9]%d*$') and tonumber(highest)
    if not number or number >= 2^53 then
        return redis.error_reply('HFTOKEN the fence of the key holds no token: '
            .. 'delete hf:fence:{KEY} once no old holder is left')
    elseif number > tonumber(token) then
        return number
    end
end
