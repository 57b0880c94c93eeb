--[[
mark - leave the number of this call in the mark.

key      the mark
number   number of this call in its lane
life     time to live of the mark, ms
]]
redis.call('set', key, number, 'px', life)
