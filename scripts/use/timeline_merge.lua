-- SPDX-License-Identifier: Apache-2.0
--[[
timeline_merge - add to `labels` those of an item whose names it does not have.

labels  variable: attributes; each ends with two NULs and has no others
old   attributes
]]
local given = {}
for label in string.gmatch(labels, '.-%z%z') do
    given[string.match(label, '^%Z+')] = true
end
for label in string.gmatch(old, '.-%z%z') do
    if not given[string.match(label, '^%Z+')] then
        labels = labels .. label
    end
end
