-- SPDX-License-Identifier: Apache-2.0
--[[
copy - copy a key that may be missing; then no key has the new name.

from  its name
to    name of the copy
]]
if call('copy', from, to, 'replace') == 0 then
    call('del', to)
end
