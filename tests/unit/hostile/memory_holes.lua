-- SPDX-License-Identifier: Apache-2.0
--[[ Holes in the memory safety of Lua 5.1 and the libraries that Debian has.

A script begins behind a line of four dashes, what is wanted and a name. Wanted:
    any      it may end as it likes, within the limits
    error    an error of its own
    stopped  it must be stopped
    or an answer, as the tests show them ]]
---- error, CVE-2025-46817 unpack down to the smallest number
return #{unpack({1,2,3}, -2, 2147483647)}
---- nil, CVE-2025-46817 unpack an int's whole range
return pcall(unpack, {}, 0, 2147483647)
---- error, unpack from the smallest to the largest int
return unpack({}, -2147483648, 2147483647)
---- any, unpack of numbers that are no ints
return unpack({}, -1e308, 1e308)
---- error, unpack a table that is longer than the stack
local t = {} for i = 1, 9000 do t[i] = i end return #{unpack(t)}
---- error, unpack in a coroutine whose stack is small
return coroutine.wrap(function() return unpack({}, 1, 7999) end)()
---- i:3, unpack near the largest int
return select('#', unpack({}, 2147483645, 2147483647))
---- s:0000FFFF, CVE-2024-31449 bit.tohex of the smallest number
return bit.tohex(65535, -2147483648)
---- s:00000ffff, bit.tohex of every width
for i = -70000, 70000 do bit.tohex(65535, i) end return '0' .. bit.tohex(65535, 70000)
---- any, bit functions with extreme numbers
for _, f in ipairs({bit.tobit, bit.bnot, bit.bswap}) do for _, n in ipairs({0/0, 1/0, -1/0, 2^53, -2^31, 2^31, 1e308}) do f(n) end end for _, f in ipairs({bit.lshift, bit.rshift, bit.arshift, bit.rol, bit.ror, bit.band, bit.bor, bit.bxor, bit.tohex}) do for _, n in ipairs({0/0, 1/0, -1/0, 2^53, -2^31, 2^31, 1e308}) do f(n, n) end end
---- s:a, CVE-2025-49844 the name of a chunk is collected while it is parsed
local n for i = 1, 40 do local f = loadstring('local ' .. ('a,'):rep(150) .. 'b = ' .. ('{{"' .. i .. '"}},'):rep(2000) .. '1', 'name' .. i .. ('x'):rep(300)) collectgarbage() n = f end return 'a'
---- s:a, CVE-2025-49844 the same by load and a reader that collects
for i = 1, 20 do local k = 0 load(function() k = k + 1 collectgarbage() if k < 50 then return 'local a' .. k .. ' = "' .. k .. ('y'):rep(100) .. '" ' end end, 'chunk' .. i .. ('z'):rep(300)) end return 'a'
---- error, CVE-2025-46819 a long bracket with very many signs
return loadstring('return [' .. ('='):rep(2e6) .. '[a]' .. ('='):rep(2e6))()
---- s:x, CVE-2025-46819 a long bracket whose end does not fit
return loadstring('return [=[x]=]')()
---- error, CVE-2025-46818 the metatable of strings
getmetatable('').__index = function() return 1 end
---- error, CVE-2025-46818 the metatable of strings, called
getmetatable('').__call = function() return 1 end return ('x')()
---- error, CVE-2025-46818 the metatable of nil
getmetatable(nil).__index = function() return 1 end
---- error, CVE-2022-24735 a library's function
string.rep = function() return 'mine' end
---- error, CVE-2022-24735 a library's function, raw
rawset(string, 'rep', function() return 'mine' end)
---- error, CVE-2022-24735 a library's metatable
setmetatable(table, {__index = string})
---- error, CVE-2022-24735 redis.call
redis.call = function() return 1 end
---- error, CVE-2022-24735 the globals
_G.pcall = function() return 1 end
---- error, CVE-2022-24735 the globals' metatable
getmetatable(_G).__index = nil
---- error, CVE-2022-24736 a script that is not Lua
return return
---- error, CVE-2022-24736 a list of names that ends early
local f = loadstring('local a,') return f()
---- error, CVE-2015-4335 bytecode by loadstring
return loadstring(string.dump(function() return 1 end))()
---- error, CVE-2015-4335 bytecode by load
local done = false return load(function() if not done then done = true return string.dump(function() end) end end)()
---- error, CVE-2015-4335 bytecode in pieces
local code, i = string.dump(function() end), 0 return load(function() i = i + 1 return code:sub(i, i) end)()
---- error, CVE-2015-4335 bytecode behind an empty piece of number
local code, i = string.dump(function() end), 0 return load(function() i = i + 1 if i == 1 then return code end end, code)()
---- error, CVE-2014-5461 a function of very many parameters
return loadstring('return (function(' .. ('a,'):rep(250) .. '...) end)()')()
---- any, CVE-2014-5461 variable arguments up to the stack's end
local function f(...) return pcall(f, 1, ...) end return (f()) and 1
---- error, CVE-2021-43519 coroutines inside of coroutines
local function f() return coroutine.wrap(f)() end return f()
---- any, CVE-2021-43519 the same with pcall
local function f() pcall(1) coroutine.wrap(f)() end return f()
---- any, CVE-2020-24370 no debug library
return type(rawget(_G, 'debug'))
---- error, no newproxy, so no __gc
return newproxy(true)
---- error, no getfenv
return getfenv(0)
---- error, no setfenv
return setfenv(1, {})
---- nil, a table's __gc is never called
setmetatable({}, {__gc = function() while true do end end}) collectgarbage()
---- error, string.format with too wide a number
return ('%1000d'):format(1)
---- error, string.format with too long a precision
return ('%.100f'):format(1)
---- error, string.format with repeated flags
return ('%-----------------d'):format(1)
---- i:410, string.format of the longest number
return #('%99.99f'):format(-1.7976931348623157e308)
---- any, string.format of every letter and numbers out of range
for _, n in ipairs({0/0, 1/0, -1/0, 2^64, -2^64, 2^63, -2^63, 1e308}) do for l in ('cdiouxXeEfgG'):gmatch('.') do string.format('%' .. l, n) string.format('%+-# 099.99' .. l, n) end end
---- error, string.format with a NUL for its letter
return ('%\0'):format(1)
---- error, string.format that ends in its middle
return ('%-'):format(1)
---- any, string.rep with extreme counts
pcall(string.rep, 'x', -2147483648) pcall(string.rep, 'x', 2147483647) pcall(string.rep, 'xyz', 1e308) pcall(string.rep, '', 2147483647) pcall(string.rep, 'x', 0/0)
---- any, string.sub and string.byte with extreme places
local e = {0/0, 1/0, -1/0, 2^63, -2^63, 2^31, -2^31, 0, 1, -1} for _, a in ipairs(e) do for _, b in ipairs(e) do ('abc'):sub(a, b) pcall(string.byte, 'abc', a, b) ('abc'):find('b', a) ('abc'):find('b', a, true) end end
---- error, string.byte of more than the stack holds
return ('x'):rep(10000):byte(1, -1)
---- error, string.char of what is no byte
return string.char(-1, 256)
---- any, table functions with extreme places
local e = {0/0, 1/0, -1/0, 2^63, -2^63, 2^31, 0, 1, -1} for _, a in ipairs(e) do pcall(table.remove, {1,2,3}, a) pcall(table.concat, {1,2}, '', a, a) for _, b in ipairs(e) do pcall(select, a, b) pcall(unpack, {}, a, b) end end
---- error, table.concat near the largest int
return table.concat({}, '', 2147483646, 2147483647)
---- s:x, table.concat of the largest int
return table.concat({[2147483647] = 'x'}, '', 2147483647, 2147483647)
---- error, table.sort with an order that is none
local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, function() return true end)
---- any, table.sort whose order empties the table
local t = {} for i = 1, 1000 do t[i] = i end pcall(table.sort, t, function(a, b) for i = 1, 1000 do t[i] = nil end return false end)
---- any, table.sort whose order makes the table long
local t = {} for i = 1, 100 do t[i] = 100 - i end pcall(table.sort, t, function(a, b) t[#t + 1] = 1 return (a or 0) < (b or 0) end)
---- error, table.foreach that changes the table
local t = {} for i = 1, 100 do t['k' .. i] = i end table.foreach(t, function(k) t[k] = nil for i = 1, 100 do t['n' .. k .. i] = 1 end end)
---- error, next of a key that is not there
return next({}, 'x')
---- error, math.random of an empty interval
return math.random(0)
---- any, math.random of extreme intervals
pcall(math.random, -2147483648, 2147483647) pcall(math.random, 1, 1e308) pcall(math.randomseed, 0/0)
---- any, tonumber of every base
for b = -3, 40 do pcall(tonumber, 'zz', b) end pcall(tonumber, '1', 2^31) pcall(tonumber, '1', 0/0)
---- any, a light userdata as everything
local n = cjson.null for _, f in ipairs({tostring, type, getmetatable, unpack, next, coroutine.resume, redis.call, redis.sha1hex, cjson.encode}) do pcall(f, n) end
---- error, a userdata's length
return #cjson.null
---- error, a script calls itself until C ends
local function f() return (string.gsub('a', 'a', f)) end return f()
---- error, metamethods until C ends
local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. 'x'] end return t.x
---- error, metatables that are each other's index
local a, b = {}, {} setmetatable(a, {__index = b}) setmetatable(b, {__index = a}) return a.x
---- error, recursion without end
local function f() return 1 + f() end return f()
---- error, a concatenation that calls itself
local t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. t
---- error, an order that calls itself
local t = setmetatable({}, {__lt = function(a, b) return a < b end}) return t < t
---- error, parentheses without end
return loadstring('return ' .. ('('):rep(10000) .. '1' .. (')'):rep(10000))()
---- error, tables inside of tables without end
return loadstring('return ' .. ('{'):rep(10000) .. ('}'):rep(10000))()
---- error, functions inside of functions without end
return loadstring(('return function() '):rep(1000) .. (' end'):rep(1000))()
---- error, more locals than there are
return loadstring('local ' .. ('a,'):rep(300) .. 'a')()
---- error, more upvalues than there are
local s = {} for i = 1, 199 do s[#s + 1] = 'local a' .. i .. ' ' end return loadstring(table.concat(s) .. 'return function() return ' .. ('a1,'):rep(199) .. 'a1 end' .. ' x')()
---- any, more constants than there are
local s = {} for i = 1, 270000 do s[i] = i .. '.5' end return loadstring('return {' .. table.concat(s, ',') .. '}')
---- error, a jump that is too long
return loadstring('while true do local a,b ' .. ('a=b '):rep(135000) .. 'end')()
---- error, a string that does not end
return loadstring('return "' .. ('x'):rep(100000))()
---- error, an escape that is none
return loadstring('return "\\999"')()
---- any, a table answered that holds itself
local t = {} t[1] = t return t
---- stopped, a table answered that holds itself twice
local t = {} t[1] = t t[2] = t return t
---- stopped, one long string answered a thousand times
local s, t = ('x'):rep(1e6), {} for i = 1, 1000 do t[i] = s end return t
---- stopped, one long error answered a thousand times
local s, t = {err = ('x'):rep(1e6)}, {} for i = 1, 1000 do t[i] = s end return t
---- stopped, a map that holds itself
local m = {} m.map = {m, m, m} return {m, m}
