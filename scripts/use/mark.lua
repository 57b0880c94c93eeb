-- SPDX-License-Identifier: Apache-2.0
--[[
mark - let the release of a lock look at the queue: a `+` at the end of the value.

lock    key of the lock, which an owner holds
entry   of the caller, which waits; empty: it does not
holder  variable: the reply to GET; afterwards the owner alone
]]
local owner = string.match(holder, '^(%x+%-%x+)[:=]%d+$')
if owner and entry ~= '' then
    call('append', lock, '+')
end
holder = owner or string.match(holder, '^(%x+%-%x+)[:=]?%d*%+$') or holder
