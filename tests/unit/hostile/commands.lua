-- SPDX-License-Identifier: Apache-2.0
---- stopped, set without end
local i = 0 while true do i = i + 1 redis.call('set', 'k' .. i, i) end
---- stopped, set of a long value without end
local s = ('x'):rep(1e6) while true do redis.call('set', 'trace', s) end
---- stopped, get of a long value without end
while true do redis.call('get', 'bytes') end
---- stopped, get of long values that are kept
local t = {} while true do t[#t + 1] = redis.call('get', 'bytes') .. #t end
---- stopped, bitcount of a long value
for i = 1, 1000 do redis.call('bitcount', 'wide') end
---- stopped, bitpos of a long value
for i = 1, 1000 do redis.call('bitpos', 'sparse', 1) end
---- stopped, bitop of long values
for i = 1, 1000 do redis.call('bitop', 'not', 'trace', 'sparse') end
---- stopped, bitop of very many values
while true do redis.call('bitop', 'xor', 'trace', 'bytes', 'bytes', 'bytes', 'bytes', 'bytes', 'bytes') end
---- stopped, lcs of long values
while true do redis.call('lcs', 'half', 'half2', 'len') end
---- stopped, sort of a list
while true do redis.call('sort', 'list', 'alpha', 'limit', 0, 1) end
---- stopped, sort of a list that is kept
while true do redis.call('sort', 'list', 'alpha', 'store', 'trace') end
---- stopped, sort of a list by others
while true do redis.call('sort', 'list', 'by', 'nothing_*', 'get', '#', 'get', 'k*', 'limit', 0, 1) end
---- stopped, lrange of a list
while true do redis.call('lrange', 'list', 0, -1) end
---- stopped, lindex in the middle
while true do redis.call('lindex', 'list', 10000) end
---- stopped, linsert in the middle
while true do redis.call('linsert', 'list', 'before', 'e19999', 'x') end
---- stopped, lrem of nothing
while true do redis.call('lrem', 'list', 0, 'nothing') end
---- stopped, lpos of nothing
while true do redis.call('lpos', 'list', 'nothing') end
---- stopped, ltrim of a list
while true do redis.call('copy', 'list', 'trace', 'replace') redis.call('ltrim', 'trace', 5000, 6000) end
---- stopped, copy of a list
while true do redis.call('copy', 'list', 'trace', 'replace') end
---- stopped, zunionstore
while true do redis.call('zunionstore', 'trace', 2, 'zset', 'set') end
---- stopped, zinterstore
while true do redis.call('zinterstore', 'trace', 2, 'zset', 'set') end
---- stopped, zdiff
while true do redis.call('zdiff', 2, 'zset', 'nothing') end
---- stopped, zrange
while true do redis.call('zrange', 'zset', 0, -1, 'withscores') end
---- stopped, zrange into a key
while true do redis.call('zrangestore', 'trace', 'zset', 0, -1) end
---- stopped, zcount
while true do redis.call('zcount', 'zset', '-inf', '+inf') end
---- stopped, zrank
while true do redis.call('zrank', 'zset', 'e19000') end
---- stopped, zremrangebyrank
while true do redis.call('zunionstore', 'trace', 1, 'zset') redis.call('zremrangebyrank', 'trace', 0, -1) end
---- stopped, zlexcount
while true do redis.call('zlexcount', 'zset', '-', '+') end
---- stopped, zscan
while true do redis.call('zscan', 'zset', 0, 'match', '*a*b*c*', 'count', 100000) end
---- stopped, hgetall
while true do redis.call('hgetall', 'hash') end
---- stopped, hkeys and hvals
while true do redis.call('hkeys', 'hash') redis.call('hvals', 'hash') end
---- stopped, hscan
while true do redis.call('hscan', 'hash', 0, 'count', 100000) end
---- stopped, hrandfield
while true do redis.call('hrandfield', 'hash', 10000) end
---- stopped, hrandfield of very many
while true do redis.call('hrandfield', 'hash', -100000) end
---- stopped, srandmember of very many
while true do redis.call('srandmember', 'set', -100000) end
---- stopped, zrandmember of very many
while true do redis.call('zrandmember', 'zset', -100000) end
---- stopped, smembers
while true do redis.call('smembers', 'set') end
---- stopped, sunion
while true do redis.call('sunion', 'set', 'set', 'set') end
---- stopped, sunionstore
while true do redis.call('sunionstore', 'trace', 'set') end
---- stopped, sdiff
while true do redis.call('sdiff', 'set', 'nothing') end
---- stopped, sinter
while true do redis.call('sinter', 'set', 'set') end
---- stopped, sintercard
while true do redis.call('sintercard', 2, 'set', 'set') end
---- stopped, spop
while true do redis.call('sunionstore', 'trace', 'set') redis.call('spop', 'trace', 10000) end
---- stopped, keys
while true do redis.call('keys', '*') end
---- stopped, keys with a pattern that tries
while true do redis.call('keys', '*a*a*a*a*a*a*a*b') end
---- stopped, a pattern that tries
redis.call('set', ('a'):rep(400), 1) while true do redis.call('keys', ('*a'):rep(100) .. 'b') end
---- stopped, scan
while true do redis.call('scan', 0, 'match', '*x*y*', 'count', 100000) end
---- stopped, dbsize
while true do redis.call('dbsize') end
---- stopped, randomkey
while true do redis.call('randomkey') end
---- stopped, del of a list
while true do redis.call('copy', 'list', 'trace', 'replace') redis.call('del', 'trace') end
---- stopped, rename
redis.call('set', 'trace', 1) while true do redis.call('rename', 'trace', 'trace2') redis.call('rename', 'trace2', 'trace') end
---- stopped, append without end
while true do redis.call('append', 'trace', 'x') end
---- stopped, append of a long value
local s = ('x'):rep(100000) while true do redis.call('append', 'trace', s) end
---- stopped, setrange far behind the end
while true do redis.call('setrange', 'trace', 4000000, 'x') redis.call('del', 'trace') end
---- stopped, setbit
local i = 0 while true do i = i + 1 redis.call('setbit', 'trace', i, 1) end
---- stopped, bitfield
while true do redis.call('bitfield', 'trace', 'incrby', 'u8', 0, 1, 'incrby', 'u8', 8, 1) end
---- stopped, getrange
while true do redis.call('getrange', 'bytes', 0, -1) end
---- stopped, mget
local t = {} for i = 1, 1000 do t[i] = 'bytes' end while true do redis.call('mget', unpack(t)) end
---- stopped, mset
local t = {} for i = 1, 1000 do t[i] = 'trace' .. i end while true do redis.call('mset', unpack(t)) end
---- stopped, incr without end
while true do redis.call('incr', 'counter') end
---- stopped, publish without end
while true do redis.call('publish', 'c', 'x') end
---- stopped, rpush without end
while true do redis.call('rpush', 'trace', 'x') redis.call('del', 'trace2') if false then break end redis.pcall('rpush', 'trace2', 'x') end
---- stopped, lpush of very many
local t = {} for i = 1, 5000 do t[i] = 'x' .. i end while true do redis.call('lpush', 'trace2', unpack(t)) end
---- stopped, sadd of very many
local t, n = {}, 0 while true do for i = 1, 3000 do n = n + 1 t[i] = 'x' .. n end redis.call('sadd', 'trace2', unpack(t)) end
---- stopped, zadd of very many
local t, n = {}, 0 while true do for i = 1, 3000, 2 do n = n + 1 t[i] = n t[i + 1] = 'x' .. n end redis.call('zadd', 'trace2', unpack(t)) end
---- stopped, hset of very many
local t, n = {}, 0 while true do for i = 1, 3000, 2 do n = n + 1 t[i] = 'f' .. n t[i + 1] = n end redis.call('hset', 'trace2', unpack(t)) end
---- stopped, errors of commands without end
while true do redis.pcall('incr', 'list') end
---- stopped, commands that are none
while true do redis.pcall('nothing') end
---- stopped, flushall and fill
while true do redis.call('flushall') for i = 1, 100 do redis.call('set', 'k' .. i, i) end end
---- stopped, a write after each error
while true do pcall(redis.call, 'set', 'trace', {}) redis.call('set', 'trace', 2) end
---- error, an error keeps what came before
redis.call('set', 'kept', 1) error('x')
---- error, more words than a command takes
local t = {} for i = 1, 7990 do t[i] = 'x' end return redis.call('get', unpack(t))
---- error, words that are tables
return redis.call('set', 'trace', {})
---- error, a light userdata for a word
return redis.call('get', cjson.null)
---- any, numbers for words
for _, n in ipairs({0/0, 1/0, -1/0, 2^53, 1e308, -0}) do redis.pcall('set', n, n) redis.pcall('expire', 'counter', n) redis.pcall('getrange', 'counter', n, n) redis.pcall('lrange', 'list', n, n) redis.pcall('zrange', 'zset', n, n) redis.pcall('setbit', 'counter2', n, 1) redis.pcall('srandmember', 'set', n) redis.pcall('bitcount', 'bytes', n, n) end
---- any, random members of extreme counts
redis.pcall('srandmember', 'set', '-9223372036854775808') redis.pcall('srandmember', 'set', '9223372036854775807') redis.pcall('hrandfield', 'hash', '-4611686018427387903', 'withvalues') redis.pcall('zrandmember', 'zset', '-9223372036854775807')
---- any, scans of extreme counts
redis.pcall('scan', '18446744073709551615', 'count', '9223372036854775807') redis.pcall('hscan', 'hash', '18446744073709551615', 'count', '9223372036854775807')
---- any, bits at extreme places
redis.pcall('setbit', 'trace', '4294967296', 1) redis.pcall('bitfield', 'trace', 'set', 'u63', '#9223372036854775807', 1) redis.pcall('bitpos', 'bytes', 1, '-9223372036854775808', '9223372036854775807')
