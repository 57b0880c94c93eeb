-- SPDX-License-Identifier: Apache-2.0
--[[
move - rename a key that may be missing; then no key has the new name.

from  its name
to    its name afterwards
]]
if call('exists', from) == 1 then
    call('rename', from, to)
else
    call('del', to)
end
