-- SPDX-License-Identifier: Apache-2.0
--[[
no_token - fail because there is no larger fencing token.
]]
return redis.error_reply('HFTOKEN the last fencing token is the '
    .. 'largest, 2^53-1: delete it once its holder is gone')
