-- SPDX-License-Identifier: Apache-2.0
--[[
txn_prepare - before the first write, save the keys that may have to be
restored, which must be small enough and which the user must be allowed to
restore, and check what would fail only if the user may not do it.

count    how many operations there are
a        where they begin in ARGV
k        the last key of the conditions, in KEYS
saved    of each key: what DUMP returned
ttls     of each key: its time to live for RESTORE
]]
local at, from = a, k
for i = 1, tonumber(count) do
    local mode, last = ARGV[at + 1], at + 3 + ARGV[at + 3]
    local to = from + ARGV[at + 2]
    if mode == 'c' and not redis.acl_check_cmd(unpack(ARGV, at + 4, last)) then
        return {err = 'NOPERM ' .. ARGV[at + 4] .. ' [op ' .. i .. ']'}
    end
    for j = from + 1, mode == 's' and to or from do
        local key = KEYS[j]
        if saved[key] == nil then
            local size = call('memory', 'usage', key, 'samples', 1)
            if size and size > 4194304 then
                return {err = 'ERR ' .. size .. ' [key ' .. j .. ']'}
            end
            local ttl = call('pttl', key)
            ttls[key] = ttl < 0 and 0 or math.max(ttl, 1)
            local old = call('dump', key)
            local undo = old and {'restore', key, '0', ''} or {'del', key}
            if not redis.acl_check_cmd(unpack(undo)) then
                return {err = 'NOPERM ' .. undo[1] .. ' is needed'}
            end
            saved[key] = old
        end
    end
    at, from = last + 1, to
end
