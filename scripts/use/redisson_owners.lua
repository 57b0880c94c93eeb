--[[
redisson_owners - who holds a lock of Redisson: their ids in `owners`, none of
more than a thousand. `sort` is 1 if they read, else 0.

lock  its key
]]
local mode, owners, fields = call('hget', lock, 'mode'), {}, {}
local sort = mode == 'read' and 1 or 0
if call('hlen', lock) <= 1001 then
    fields = call('hkeys', lock)
end
for _, field in ipairs(fields) do
    local writer = string.match(field, '^(.*):write$')
    if field ~= 'mode' and (mode ~= 'write' or writer) then
        owners[#owners + 1] = mode == 'write' and writer or field
    end
end
