-- SPDX-License-Identifier: Apache-2.0
---- stopped, encode of 200 references to one long text
local s, t = ('x'):rep(1e6), {} for i = 1, 200 do t[i] = s end return #cjson.encode(t)
---- stopped, encode of one text of escapes
local s, t = ('\1'):rep(1e6), {} for i = 1, 200 do t[i] = s end return #cjson.encode(t)
---- stopped, encode without end
local t = {} for i = 1, 1e5 do t[i] = i end while true do cjson.encode(t) end
---- stopped, encode of a long text without end
local s = ('x'):rep(1e6) while true do cjson.encode(s) end
---- stopped, decode without end
local s = '[' .. ('1,'):rep(1e5) .. '1]' while true do cjson.decode(s) end
---- stopped, decode of a long text without end
local s = '"' .. ('x'):rep(1e6) .. '"' while true do cjson.decode(s) end
---- stopped, decode of spaces without end
local s = (' '):rep(1e6) .. '1' while true do cjson.decode(s) end
---- stopped, decode of digits without end
local s = ('1'):rep(1e6) while true do cjson.decode(s) end
---- stopped, decode of objects without end
local s = '{' .. ('"a":{},'):rep(1e5) .. '"b":1}' while true do cjson.decode(s) end
---- error, encode of a table that holds itself
local t = {} t[1] = t return cjson.encode(t)
---- error, encode of an object that holds itself
local t = {} t.a = t return cjson.encode(t)
---- error, encode of a table that holds itself twice
local t = {} t[1] = t t[2] = t cjson.encode_max_depth(2147483647) return cjson.encode(t)
---- any, encode deeper than C is
local t = {} for i = 1, 1e5 do t = {t} end cjson.encode_max_depth(2147483647) return #cjson.encode(t)
---- any, decode deeper than C is
cjson.decode_max_depth(2147483647) return #cjson.decode(('['):rep(1e5) .. (']'):rep(1e5))
---- error, decode as deep as is allowed
return cjson.decode(('['):rep(1001) .. (']'):rep(1001))
---- error, decode of objects as deep as is allowed
return cjson.decode(('{"a":'):rep(1001) .. '1' .. ('}'):rep(1001))
---- error, encode of a sparse array
return cjson.encode({[1000000] = 1})
---- i:13, CVE-2022-24834 encode of a very sparse array
cjson.encode_sparse_array(true, 2, 3) return #cjson.encode({[1000000] = 1})
---- any, encode of an array with the largest int
cjson.encode_sparse_array(false, 0, 0) return pcall(cjson.encode, {[2147483647] = 1})
---- any, encode of an array beyond the largest int
cjson.encode_sparse_array(false, 0, 0) return pcall(cjson.encode, {[2^53] = 1, [2^31] = 2})
---- any, encode with extreme precisions
for i = -1, 20 do pcall(cjson.encode_number_precision, i) pcall(cjson.encode, {1/3, 1e308, -1e-308, 2^53}) end
---- any, encode of numbers that are none
for _, m in ipairs({true, false, 'null'}) do pcall(cjson.encode_invalid_numbers, m) pcall(cjson.encode, {0/0, 1/0, -1/0}) end
---- any, decode of numbers that are none
for _, m in ipairs({true, false}) do cjson.decode_invalid_numbers(m) for _, s in ipairs({'[nan]', '[NaN]', '[inf]', '[-Infinity]', '[0x1p4]', '[0x]', '[1e]', '[--1]', '[+1]', '[.5]', '[01]', '[-]'}) do pcall(cjson.decode, s) end end
---- error, encode of a function
return cjson.encode({function() end})
---- error, encode of a coroutine
return cjson.encode(coroutine.create(function() end))
---- error, encode of keys that are tables
return cjson.encode({[{}] = 1})
---- error, encode of nothing
return cjson.encode()
---- error, decode of nothing
return cjson.decode()
---- error, decode of a table
return cjson.decode({})
---- error, decode of an empty text
return cjson.decode('')
---- error, decode of an escape that ends
return cjson.decode('"\\')
---- error, decode of half an escape
return cjson.decode('"\\u12')
---- error, decode of half a pair
return cjson.decode('"\\ud800"')
---- error, decode of a pair whose half is another
return cjson.decode('"\\ud800\\u0041"')
---- error, decode of the second half first
return cjson.decode('"\\udc00"')
---- s:\xf4\x8f\xbf\xbf, decode of the largest letter
return cjson.decode('["\\udbff\\udfff"]')[1]
---- error, decode of a text that does not end
return cjson.decode('"abc')
---- error, decode of a control character
return cjson.decode('"a\0b')
---- error, decode of wide characters
return cjson.decode('\0[]')
---- any, decode of every byte
for i = 0, 255 do for j = 0, 255 do pcall(cjson.decode, string.char(i, j)) end end
---- any, decode of texts made at random
local m = {'{', '}', '[', ']', '"', ':', ',', '1', '-', 'e', '.', '\\', 'u', 'null', 'true', 'a', ' ', '\0', '\\u00'} for i = 1, 3000 do local p = {} for j = 1, math.random(12) do p[j] = m[math.random(#m)] end pcall(cjson.decode, table.concat(p)) end
---- any, settings of every kind
for _, f in pairs({cjson.encode_sparse_array, cjson.encode_max_depth, cjson.decode_max_depth, cjson.encode_number_precision, cjson.encode_keep_buffer, cjson.encode_invalid_numbers, cjson.decode_invalid_numbers}) do for _, v in ipairs({-1, 0, 1, 2^31, 0/0, 1/0, 'x', true, false, {}}) do pcall(f, v) pcall(f, v, v, v) pcall(f, v, v, v, v) end end
---- any, a codec of its own
local own = cjson.new() return own.encode({1})
---- stopped, codecs without end
local t = {} while true do t[#t + 1] = cjson.new() end
---- stopped, encode whose buffer is kept
cjson.encode_keep_buffer(true) local s, t = ('x'):rep(1e6), {} for i = 1, 200 do t[i] = s end pcall(cjson.encode, t) return 1
---- s:ok, encode after an encode that failed
pcall(cjson.encode, {('x'):rep(1e6), function() end}) cjson.encode({1}) return 'ok'
---- s:[1,2], the settings of another script are not ours
return cjson.encode({1, 2})
---- error, CVE-2018-11218: unpack of nested arrays
return cmsgpack.unpack(('\145'):rep(100000))
---- error, CVE-2018-11218: unpack of nested maps
return cmsgpack.unpack(('\129\1'):rep(100000))
---- error, unpack of more elements than there are
return cmsgpack.unpack('\221\255\255\255\255\1')
---- stopped, pack of 200 references to one long text
local s, t = ('x'):rep(1e6), {} for i = 1, 200 do t[i] = s end pcall(cmsgpack.pack, t) return 1
---- any, unpack of every byte
for i = 0, 255 do for j = 0, 255 do pcall(cmsgpack.unpack, string.char(i, j)) pcall(cmsgpack.unpack, string.char(i, j, j, j, j, j)) end end
---- any, a table that packs itself
local t = {} t[1] = t cmsgpack.pack(t)
---- error, offsets outside
return cmsgpack.unpack_limit('\1', -1, 0)
---- error, CVE-2018-11219: sizes that overflow
return struct.pack('i2147483648', 1)
---- error, CVE-2015-8080: a string longer than the data
return struct.unpack('>I4c0', '\255\255\255\255abc')
---- error, a size below zero
return struct.unpack('bc0', '\255abc')
---- error, an offset outside
return struct.unpack('b', 'abc', 2147483647)
---- any, unpack by every option
for i = 1, 255 do for _, s in ipairs({'', 'abc', ('\255'):rep(40)}) do pcall(struct.unpack, string.char(i), s) pcall(struct.unpack, '!' .. string.char(i) .. '9', s) pcall(struct.pack, string.char(i), 1) pcall(struct.size, string.char(i) .. '32') end end
---- stopped, a long format
while true do pcall(struct.pack, ('x'):rep(1e6)) end
