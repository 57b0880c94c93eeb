-- SPDX-License-Identifier: Apache-2.0
--[[
revision - read a value and its revision: `value`, false: there is none;
`digest`, its SHA-1; `current`, its revision in decimal, 0 if there is no
value, or false if this value was not written with a revision; `gone`: another
program has deleted it since it had one. Returns an error HFHELD if it is a lease
that is held.

key    the value
stamp  its revision, a blank and its digest
]]
local value, known = call('get', key), call('get', stamp)
local digest, current = value and redis.sha1hex(value), '0'
if value then
    current = known and string.sub(known, -40) == digest
        and string.match(known, '^(%d+) ')
end
local gone = known and not value
if not current then
    local size = #value
    --#use refuse_held_string
end
