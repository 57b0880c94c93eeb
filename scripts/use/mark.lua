--[[
mark - record in the mark that this call was done.

key      the mark
number   number of this call in its lane
life     time to live of the mark, ms
]]
redis.call('set', key, number, 'px', life)
