-- SPDX-License-Identifier: Apache-2.0
--[[
txn_run - run operations, all of them or none, if all conditions hold.

KEYS[1...]  all: the dedup record, if there is one; one of each condition; those
         of each operation
ARGV[1]  number: of this call in its session; empty: there is no record
ARGV[2]  record_ttl: time to live of the record, ms
ARGV[3]  prepare: 1: some operation has a mode; else 0
ARGV[4]  conditions: how many
ARGV[5]  operations: how many
ARGV[6...]  program: of each condition exists, get, version, hget, fence, held,
         shared or token; the field; 1: found is what follows, 0: nothing is found; that. Of each operation 0: a
         command, else the number of its function in `bodies`, which the client
         puts in; its mode; how many keys it has; how many words; the words.
         Mode s: save its keys, which a later operation's failure restores; c:
         it fails only if the user may not run it, so check that

Returns  a list of what the operations returned, {ok = ':NUMBER'} for an integer
         that Lua cannot represent; n > 0: condition n does not hold; 0: all was
         done before, and the results are not known; -1: the record has a later
         number. An error ends in [if N], [op N] or [key N]: of the condition,
         the operation, the key that is too large to be saved.
Repeat   no: only with a record.
Program  the operations are the caller's.
Writes   what the operations write. Cost theirs, and O(size) of the keys saved.
]]
local call = redis.call
local bodies = {}
local k, a, number, saved, ttls, results = 0, 6, ARGV[1], {}, {}, {}
if number ~= '' then
    k = 1
    --#use txn_once key=KEYS[1]
end
for i = 1, tonumber(ARGV[4]) do
    local found
    k = k + 1
    --#use txn_found command=ARGV[a] key=KEYS[k] field=ARGV[a+1] i=i
    if ARGV[a + 2] == '0' and found or ARGV[a + 2] == '1' and
        (not found or tostring(found) ~= ARGV[a + 3]) then
        return i
    end
    a = a + 4
end
if ARGV[3] == '1' then
    --#use txn_prepare count=ARGV[5]
end
local first = k + 1
for i = 1, tonumber(ARGV[5]) do
    local done, reply = true
    local body, last = bodies[tonumber(ARGV[a])], a + 3 + ARGV[a + 3]
    local to = k + ARGV[a + 2]
    if body then
        done, reply = pcall(body, {unpack(KEYS, k + 1, to)},
            {unpack(ARGV, a + 4, last)})
    else
        reply = redis.pcall(unpack(ARGV, a + 4, last))
        --#use txn_exact name=ARGV[a+4] key=ARGV[a+5] field=ARGV[a+6]
    end
    if not done or type(reply) == 'table' and reply.err then
        --#use txn_undo i=i
    end
    results[i] = reply or false
    k, a = to, last + 1
end
--#use txn_record key=KEYS[1] ttl=ARGV[2]
return results
