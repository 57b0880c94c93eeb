-- SPDX-License-Identifier: Apache-2.0
--[[
send_grant - send a grant to a waiter, whose count of subscribers here is
`woken` afterwards. If it is 0 the waiter is skipped, and must not read a grant:
in a cluster, or from a replica, a message still reaches it by other servers.

inbox  channel of the waiter
grant  text of the message
topic  key that it is about
woken  variable: 0, or an error, if it was not sent
]]
woken = redis.pcall('pubsub', 'numsub', inbox)[2]
woken = redis.pcall('publish', inbox,
    (woken == 0 and 'ask' or grant) .. '\0' .. topic)
