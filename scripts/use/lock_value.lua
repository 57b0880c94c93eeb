-- SPDX-License-Identifier: Apache-2.0
--[[
lock_value - store who holds a lock: the owner id; a `:` if it was acquired after
a wait and the token is that instant, else a `=`; the token; and a `+` if clients
of Holdfast may wait.

lock    its key
owner   owner id
waited  the owner had to wait
token   fencing token, in decimal
clock   the store's clock, us, in 16 digits
mark    `+`, or empty
ttl     of the lease, ms
]]
local sign = waited and token == clock and ':' or '='
call('set', lock, owner .. sign .. token .. mark, 'px', ttl)
