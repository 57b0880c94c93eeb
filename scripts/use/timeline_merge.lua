--[[
timeline_merge - add to `tags` those of an item whose names it does not have.

tags  variable: attributes; each ends with two NULs and has no others
old   attributes
]]
local given = {}
for tag in string.gmatch(tags, '.-%z%z') do
    given[string.match(tag, '^%Z+')] = true
end
for tag in string.gmatch(old, '.-%z%z') do
    if not given[string.match(tag, '^%Z+')] then
        tags = tags .. tag
    end
end
