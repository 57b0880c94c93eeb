-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_expire - make the keys of a timeline expire with its last item. If that
has expired meanwhile, a server deletes a key at once, and others only at the end
of the millisecond: so the timeline is the last, as nothing is there without it.

timeline  sorted set of ids by time
items     hash of payloads
labels      hash of attributes
due       sorted set of ids by deadline
order     sorted set of positions
]]
local last = call('zrevrange', due, 0, 0, 'withscores')[2]
call('pexpireat', order, last)
call('pexpireat', due, last)
call('pexpireat', labels, last)
call('pexpireat', items, last)
call('pexpireat', timeline, last)
