-- SPDX-License-Identifier: Apache-2.0
--[[
once_pass - delete a record, and give the claim to the waiter that has waited
longest, for the tick in which it began to wait.

record   its key
last     key of the last fencing token
waiters  sorted set of entries
reply    variable: the reply of the script
]]
call('del', record)
--#use pick_waiter topic=record fits=string.find(argument,'^%x*/%d+/%d/%d+/%d+$') own='' note=''
if grant then
    local doubt = ''
    local asked = clock + 1e15 - (clock + 1e15 - popped[2]) % 2e15
    --#use once_terms terms=argument
    --#use once_claim ttl=lease
end
