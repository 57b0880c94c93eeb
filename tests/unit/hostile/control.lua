-- SPDX-License-Identifier: Apache-2.0
---- stopped, a loop
while true do end
---- stopped, xpcall of a loop whose handler loops
local function loop() while true do end end xpcall(loop, loop)
---- stopped, xpcall without end
local function loop() while true do end end while true do xpcall(loop, loop) end
---- stopped, a handler that calls xpcall
local function h() while true do xpcall(error, h) end end xpcall(error, h)
---- stopped, a handler that is a coroutine
local function loop() while true do end end xpcall(loop, coroutine.wrap(loop))
---- stopped, pcall in pcall in a loop
while true do pcall(pcall, pcall, function() while true do end end) end
---- stopped, pcall of a loop that writes on
while true do pcall(function() while true do end end) redis.call('set', 'trace', 2) end
---- stopped, pcall that calls itself
local function f() pcall(f) pcall(f) end f()
---- stopped, coroutines that loop
while true do coroutine.wrap(function() while true do end end)() end
---- stopped, a million coroutines that do little
while true do coroutine.wrap(function() for i = 1, 900 do end end)() end
---- stopped, coroutines that make coroutines that do little
local function f(n) for i = 1, 300 do end if n > 0 then for i = 1, 20 do coroutine.wrap(f)(n - 1) end end end while true do f(30) end
---- stopped, coroutines that yield at once
local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true do c() end
---- stopped, two coroutines that take turns
local function f() while true do for i = 1, 900 do end coroutine.yield() end end local a, b = coroutine.wrap(f), coroutine.wrap(f) while true do a() b() end
---- stopped, coroutines resumed within pcall
while true do pcall(coroutine.wrap(function() while true do end end)) end
---- stopped, coroutine.resume hides errors
local function loop() while true do end end while true do coroutine.resume(coroutine.create(loop)) end
---- error, a coroutine resumes itself
local c c = coroutine.wrap(function() c() end) c()
---- any, a coroutine resumes its maker
local a = coroutine.running() return tostring(a)
---- error, yield outside of a coroutine
coroutine.yield(1)
---- error, yield across pcall
return coroutine.wrap(function() pcall(coroutine.yield) error('x') end)()
---- error, coroutine of a function in C
return coroutine.wrap(print or type)()
---- any, more arguments than a coroutine takes
local t = {} for i = 1, 7000 do t[i] = i end return coroutine.wrap(function(...) return coroutine.wrap(function(...) return select('#', ...), unpack(t), unpack(t) end)(...) end)(unpack(t))
---- stopped, metamethods that loop
local t = setmetatable({}, {__index = function() while true do end end}) return t.x
---- stopped, an order that loops
local t = setmetatable({}, {__lt = function() while true do end end}) return t < t
---- stopped, a length, a call and a concatenation that loop
local function loop() while true do end end local m = setmetatable({}, {__call = loop, __concat = loop, __unm = loop}) pcall(function() return -m end) pcall(function() return m .. 1 end) return m()
---- stopped, tostring that loops
return tostring(setmetatable({}, {__tostring = function() while true do end end}))
---- error, an error whose text loops
error(setmetatable({}, {__tostring = function() while true do end end, __index = function() while true do end end}))
---- stopped, pcall looks at an error that loops
pcall(error, setmetatable({}, {__index = function() while true do end end}))
---- error, an error whose err is a number
error({err = 1})
---- error, an error of nil
error()
---- error, an error that is a table of tables
error({err = {err = {}}})
---- stopped, load with a reader that never ends
load(function() return ' ' end)
---- stopped, load with a reader that loops
load(function() while true do end end)
---- error, load with a reader that fails
local f, e = load(function() error('x') end) error(e)
---- stopped, load within load
local function r() load(r) return 'x' end load(r)
---- stopped, loadstring of a long text
local s = ('a = 1 '):rep(100000) while true do loadstring(s) end
---- stopped, loadstring of a long comment
local s = '--' .. ('a'):rep(4000000) while true do loadstring(s) end
---- stopped, loadstring of a condition with very many parts
while true do loadstring('return ' .. ('a and '):rep(50000) .. 'a') end
---- stopped, loadstring of very many elseifs
while true do loadstring('if a then ' .. ('elseif a then '):rep(15000) .. 'end') end
---- stopped, loadstring of a long string
local s = 'return "' .. ('a'):rep(4000000) .. '"' while true do loadstring(s) end
---- stopped, collectgarbage without end
while true do collectgarbage() end
---- stopped, collectgarbage step
while true do collectgarbage('step', 2147483647) end
---- stopped, collectgarbage of many tables
local t = {} for i = 1, 1e5 do t[i] = {} end while true do collectgarbage() end
---- i:0, collectgarbage stop changes nothing
return collectgarbage('stop')
---- stopped, weak tables
local t = setmetatable({}, {__mode = 'kv'}) while true do for i = 1, 1000 do t[{}] = {} end collectgarbage() end
---- stopped, tail calls
local function f() return f() end f()
---- stopped, an iterator that never ends
for _ in function() return 1 end do end
---- stopped, a count that stands still
for i = 1, 2, 1e-300 do end
---- stopped, next of a table emptied
local t = {} for i = 1, 2^16 do t[i] = i end for i = 1, 2^16 do t[i] = nil end while true do next(t) end
---- stopped, pairs of a table that is long
local t = {} for i = 1, 1e5 do t[i] = i end while true do for k in pairs(t) do end end
---- stopped, math.random without end
while true do math.random() end
---- stopped, tostring without end
while true do tostring({}) end
---- stopped, tonumber of a long text
local s = (' '):rep(4000000) .. '1' while true do tonumber(s) end
---- stopped, tonumber of a long text with a base
local s = ('0'):rep(4000000) .. '1' while true do tonumber(s, 2) end
---- stopped, calculating with a long text
local s = ('1'):rep(4000000) while true do local x = s + 0 end
---- stopped, comparing long texts
local s = ('1'):rep(4000000) local a, b = s .. 'a', s .. 'b' while true do local x = a < b end
---- stopped, concatenating long texts
local s = ('1'):rep(4000000) while true do local x = s .. 'a' end
---- stopped, concatenating short texts
local s = '' while true do s = s .. 'a' end
---- stopped, select without end
local t = {} for i = 1, 5000 do t[i] = i end while true do select('#', unpack(t)) end
---- stopped, redis.log without end
while true do redis.log(redis.LOG_WARNING, 'x') end
---- stopped, sha1hex of a long text
local s = ('1'):rep(1000000) while true do redis.sha1hex(s) end
---- stopped, error_reply of a long text
local s = ('1 '):rep(1000000) while true do redis.error_reply(s) end
---- stopped, strings whose hashes are alike
local a = ('a'):rep(100) local t = {} for i = 1, 1e9 do t[i] = a .. ('%07d'):format(i) .. a end
---- stopped, a recursion that catches its own end
local function f() local ok = pcall(f) while not ok do end end f()
---- stopped, fibonacci
local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end return f(60)
