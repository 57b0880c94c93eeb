-- SPDX-License-Identifier: Apache-2.0
---- stopped, sort of a million numbers
local t = {} for i = 1, 2^18 do t[i] = i * 7919 % 1000003 end while true do table.sort(t) t[1] = t[1] + 1 table.sort(t, function(a, b) return a > b end) end
---- stopped, sort with an order in Lua
local t = {} for i = 1, 1e5 do t[i] = -i end while true do table.sort(t, function(a, b) return a < b end) table.sort(t, function(a, b) return a > b end) end
---- stopped, sort with an order in C
local t = {} for i = 1, 1e5 do t[i] = {} end while true do pcall(table.sort, t, rawequal) end
---- stopped, sort of long texts
local s, t = ('a'):rep(100000), {} for i = 1, 200 do t[i] = s .. i end while true do table.sort(t) t[1], t[200] = t[200], t[1] end
---- stopped, sort whose order loops
table.sort({1, 2, 3}, function() while true do end end)
---- error, sort in sort
local t = {} for i = 1, 100 do t[i] = -i end local function f(a, b) table.sort({5, 4, 3, 2, 1}, f) return a < b end table.sort(t, f)
---- stopped, concat of a million
local t = {} for i = 1, 2^18 do t[i] = 'ab' end for i = 1, 1000 do table.concat(t) end
---- stopped, concat of one long text
local s, t = ('x'):rep(1e6), {} for i = 1, 1000 do t[i] = s end return #table.concat(t)
---- stopped, concat with a long text between
return #table.concat({1, 2, 3, 4, 5, 6, 7, 8, 9}, ('x'):rep(1e7))
---- stopped, remove from the front
local t = {} for i = 1, 2e5 do t[i] = i end for i = 1, 2e5 do table.remove(t, 1) end
---- stopped, insert at the front
local t = {} for i = 1, 1e6 do table.insert(t, 1, i) end
---- stopped, insert far before the end
table.insert({}, -2147483647, 1)
---- stopped, insert far before the end, again and again
while true do pcall(table.insert, {}, -1e6, 1) end
---- stopped, maxn
local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e4 do table.maxn(t) end
---- stopped, foreach with a function in C
local t = {} for i = 1, 1e5 do t[i] = i end while true do table.foreach(t, rawget and function() end) table.foreachi(t, function() end) end
---- stopped, foreachi with a function in C
local t = {} for i = 1, 1e5 do t[i] = i end while true do table.foreachi(t, function() end) end
---- stopped, getn without end
local t = {} while true do table.getn(t) end
---- stopped, a table that grows
local t = {} while true do t[#t + 1] = 1 end
---- stopped, a table of tables that grows
local t = {} while true do t = {t} end
---- stopped, a table of texts that grows
local t, i = {}, 0 while true do i = i + 1 t['k' .. i] = 'v' .. i end
---- stopped, a table whose keys are fractions
local t, i = {}, 0 while true do i = i + 0.5 t[i] = true end
---- stopped, a text that doubles
local s = 'x' while true do s = s .. s end
---- stopped, rep of a billion
return ('x'):rep(1e9)
---- stopped, rep of a billion, caught
while true do pcall(string.rep, 'x', 1e9) end
---- stopped, rep without end
while true do ('x'):rep(1e6) end
---- stopped, lower and upper and reverse of a long text
local s = ('x'):rep(4e6) while true do s:lower() s:upper() s:reverse() end
---- stopped, lower of a long text
local s = ('x'):rep(4e6) while true do s:lower() end
---- stopped, format of a long text
local s = ('x'):rep(4e6) while true do ('%s'):format(s); ('%q'):format(s) end
---- stopped, format with a long format
local s = ('%%'):rep(1e6) while true do s:format() end
---- stopped, format of very many texts
local s = ('x'):rep(1e6) return #(('%s'):rep(200)):format(unpack((function() local t = {} for i = 1, 200 do t[i] = s end return t end)()))
---- stopped, format that quotes
local s = ('\0'):rep(4e6) return #('%q%q%q%q%q'):format(s, s, s, s, s)
---- stopped, sub of a long text
local s, t = ('x'):rep(4e6), {} for i = 1, 1000 do t[i] = s:sub(i) end
---- stopped, byte and char
local s = ('x'):rep(4000) while true do string.char(s:byte(1, -1)) end
---- stopped, dump without end
local f = loadstring(('local a = "xxxxxxxxxxxxxxxxxxxxxx" '):rep(190)) while true do string.dump(f) end
---- stopped, a table that is filled and emptied
while true do local t = {} for i = 1, 1e4 do t[i] = i end end
---- stopped, closures that grow
local t = {} while true do local x = {} t[#t + 1] = function() return x end end
---- stopped, coroutines that grow
local t = {} while true do t[#t + 1] = coroutine.create(function() end) end
---- stopped, memory held in a coroutine
coroutine.wrap(function() local t = {} while true do t[#t + 1] = ('x'):rep(10000) .. #t end end)()
---- stopped, memory eaten and caught
local t = {} while true do pcall(function() while true do t[#t + 1] = ('x'):rep(100000) .. #t end end) end
---- stopped, memory eaten and handled
local t = {} local function eat() while true do t[#t + 1] = ('x'):rep(100000) .. #t end end while true do xpcall(eat, eat) end
---- stopped, memory eaten in coroutines
local t = {} local function eat() while true do t[#t + 1] = ('x'):rep(100000) .. #t end end while true do coroutine.resume(coroutine.create(eat)) end
---- stopped, memory eaten in an order
local t = {} table.sort({3, 2, 1}, function(a, b) while true do t[#t + 1] = ('x'):rep(100000) .. #t end end)
---- stopped, memory eaten in gsub
local t = {} ('abc'):gsub('.', function() while true do t[#t + 1] = ('x'):rep(100000) .. #t end end)
---- stopped, memory eaten in a reader
local t = {} load(function() while true do t[#t + 1] = ('x'):rep(100000) .. #t end end)
---- stopped, a reader whose text is long
load(function() return ('x'):rep(1e6) end)
