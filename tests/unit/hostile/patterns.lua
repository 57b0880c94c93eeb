-- SPDX-License-Identifier: Apache-2.0
---- s:ok, find with very many optional characters
string.find(("x"):rep(100000), ("x?"):rep(100000)) return 'ok'
---- stopped, find with back-tracking
return (('a'):rep(100000)):find('.-.-.-.-.-.-b$')
---- stopped, match with back-tracking
return (('a'):rep(100000)):match('.*.*.*.*.*.*b')
---- stopped, gmatch with back-tracking
for _ in (('a'):rep(100000)):gmatch('a*a*a*a*b') do end
---- stopped, gsub with back-tracking
return (('a'):rep(100000)):gsub('(a*)(a*)(a*)(a*)%1b', '')
---- stopped, optional characters that back-track
return (('x'):rep(30)):find(('x?'):rep(40) .. ('x'):rep(31) .. 'y')
---- stopped, sets that are long
return (('a'):rep(1000000)):find('[' .. ('b'):rep(100000) .. ']')
---- stopped, balanced texts that do not end
return (('('):rep(1000000)):find('%b()')
---- stopped, frontiers with long sets
return (('a'):rep(1000000)):find('%f[' .. ('b'):rep(100000) .. ']')
---- any, a capture found again and again
return (('a'):rep(100000)):find('(.-)%1%1b')
---- any, plain text that is almost there everywhere
return (('a'):rep(4000000)):find(('a'):rep(2000000) .. 'b', 1, true)
---- stopped, plain text found again and again
local s = ('a'):rep(4000000) while true do s:find('b', 1, true) end
---- stopped, gsub over a long string again and again
local s = ('a'):rep(1000000) for i = 1, 100 do s:gsub('a', 'b') end
---- stopped, gsub with a function in C
local s = ('a'):rep(1000000) for i = 1, 100 do s:gsub('a', type) end
---- stopped, gsub with a table
local s = ('a'):rep(1000000) for i = 1, 100 do s:gsub('a', {a = 'c'}) end
---- stopped, gsub whose text grows
local s = 'a' while true do s = s:gsub('a', 'aa') end
---- stopped, gsub whose captures are long
return (('a'):rep(10000)):gsub('()', ('%0'):rep(10) .. ('y'):rep(100000))
---- stopped, gsub with a replacement of many captures
return (('a'):rep(1000000)):gsub('.+', ('%0'):rep(1000))
---- error, gsub with a capture that is not there
return ('a'):gsub('a', '%2')
---- s:%a, gsub with signs
return (('a'):gsub('a', '%%%a'))
---- error, gsub whose function answers a table
return ('a'):gsub('a', function() return {} end)
---- error, gsub whose function yields
return coroutine.wrap(function() return ('a'):gsub('a', coroutine.yield) end)()
---- error, a pattern that ends in an escape
return ('a'):find('a%')
---- error, a set that does not end
return ('a'):find('[a')
---- error, a set that ends in an escape
return ('a'):find('[a%')
---- error, a set that is only negated
return ('a'):find('[^')
---- error, a set with a bracket for its first
return ('a'):find('[]')
---- error, balance without its letters
return ('a'):find('%b')
---- error, balance with one letter
return ('a'):find('%b(')
---- error, frontier without a set
return ('a'):find('%f')
---- error, frontier whose set does not end
return ('a'):find('%f[')
---- error, a capture that does not end
return ('a'):find('(a')
---- error, a capture that did not begin
return ('a'):match('a)')
---- error, a capture used while it is open
return ('a'):find('(a%1)')
---- error, capture number nought
return ('a'):find('(a)%0')
---- error, more captures than there are
return (('a'):rep(40)):find(('(a)'):rep(33))
---- i:32, as many captures as there are
return select('#', (('a'):rep(40)):match(('(a)'):rep(32)))
---- [i:1, i:0], a pattern that is empty
return {(''):find('')}
---- [i:2, i:1], an empty pattern behind the end
return {('a'):find('', 10)}
---- [i:1, i:3, s:a, s:c], captures
return {('abc'):find('(.).(.)')}
---- [i:1, i:1], a NUL ends a pattern
return {('abcd'):find('a.-\0d')}
---- s:-a-b-, gsub at empty places
return (('ab'):gsub('', '-'))
---- [s:x=y, i:1], an anchor
return {('a=y'):gsub('^a', 'x')}
---- any, a pattern of every byte
for i = 0, 255 do for _, p in ipairs({'%' .. string.char(i), '[%' .. string.char(i) .. ']', '[^' .. string.char(i) .. ']', string.char(i) .. '*', '%f[' .. string.char(i) .. ']'}) do pcall(string.find, 'a\0b', p) pcall(string.gsub, 'a\0b', p, '%0') end end
---- any, patterns made at random
local m = {'%', '(', ')', '[', ']', '^', '$', '*', '+', '-', '?', '.', 'a', 'b', '%b', '%f', '%1', '%a', '\0'} for i = 1, 3000 do local p = {} for j = 1, math.random(12) do p[j] = m[math.random(#m)] end p = table.concat(p) pcall(string.find, 'aabbab%()', p) pcall(string.gsub, 'aabbab%()', p, '%1') end
---- stopped, gmatch in gmatch in gmatch
local s = ('a'):rep(10000) for _ in s:gmatch('.') do for _ in s:gmatch('.') do for _ in s:gmatch('.') do end end end
---- stopped, gsub inside of gsub
local s = ('a'):rep(10000) s:gsub('.', function() s:gsub('.', function() s:gsub('.', '%0') end) end)
---- any, very many captures of places
return #(('a'):rep(100000)):gsub('()', '%1')
---- stopped, match from every place
local s = ('a'):rep(100000) for i = 1, #s do s:match('a*b', i) end
---- any, a long pattern of one letter
return (('a'):rep(1000000)):find(('a'):rep(999999) .. 'b')
---- stopped, a long pattern of one letter, at every place
return (('a'):rep(1000000)):find(('[a]'):rep(100000) .. 'b')
---- stopped, greedy sets in a row
return (('ab'):rep(5000)):find('[ab]+[ab]+[ab]+[ab]+c')
