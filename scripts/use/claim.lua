-- SPDX-License-Identifier: Apache-2.0
--[[
claim - take a lock that was reserved for the caller (hand_over).

lock    its key
value   what it shall hold
ttl     of the lease, ms
entry   of the caller in the queue; nil or empty: it does not wait
holder  variable: what the key holds; afterwards nil if the caller has it
]]
if holder and holder == string.sub(entry or '', -32) .. '+' then
    call('set', lock, value, 'px', ttl)
    holder = nil
end
