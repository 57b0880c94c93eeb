-- SPDX-License-Identifier: Apache-2.0
--[[
redisson_timeout - the key of a read hold of Redisson, without its number.

lock     the key of the lock
owner    who holds it
timeout  variable: afterwards that key
]]
timeout = string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}'
timeout = timeout .. ':' .. owner .. ':rwlock_timeout:'
