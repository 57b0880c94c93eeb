-- SPDX-License-Identifier: Apache-2.0
--[[
record - record that this call was done.

key      the dedup record
number   number of this call in its session
ttl      of the record, ms
]]
redis.call('set', key, number, 'px', ttl)
