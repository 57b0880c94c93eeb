-- SPDX-License-Identifier: Apache-2.0
--[[
tag_version - the version of a tag, which is made if there is none, and lives at
least as long as what refers to it.

tag      its key
token    a new version
keep     how long it must live, ms
version  variable: afterwards the version
]]
if not call('set', tag, token, 'nx', 'px', keep) then
    version = call('get', tag)
    if call('pttl', tag) < tonumber(keep) then
        call('pexpire', tag, keep)
    end
end
