-- SPDX-License-Identifier: Apache-2.0
--[[
raise_fence - store the fencing token of a write for 7 days, longer than any
lease.

fence  key of the highest token
token  that of the write
]]
redis.call('set', fence, token, 'px', '604800000')
