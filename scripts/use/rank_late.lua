-- SPDX-License-Identifier: Apache-2.0
--[[
rank_late - return an error HFLATE: too many members are due. Nothing was
written.
]]
return redis.error_reply('HFLATE too many members have expired: call hf_rank_trim()')
