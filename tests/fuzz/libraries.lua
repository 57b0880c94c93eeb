-- SPDX-License-Identifier: Apache-2.0
--
-- The script of fuzz_libraries.c. ARGV has calls, one after another: "=" and
-- the name of a function, then its arguments, each a letter and a text. Returns
-- "kept", or what was not as it should be.

local json = cjson.new() -- with settings of its own
local libraries = {
    cjson = json, cmsgpack = cmsgpack, struct = struct, bit = bit
}
local last -- result of the call before
local broken

local function expect(true_value, what)
    if not true_value and not broken then
        broken = what
    end
end

-------------------------------------------------------------------- values

local makers = {
    s = function(text) return text end,
    n = tonumber,
    l = function() return last end,
    m = function(text) return (cmsgpack.unpack(text)) end,
    j = function(text) return cjson.decode(text) end,
    t = function() return true end,
    f = function() return false end,
    z = function() return nil end,
    u = function() return cjson.null end,
    x = function() return pairs end,
    c = function() return coroutine.create(pairs) end,
    r = function(text) return text:rep(1000) end,
    -- Tables in tables, one that is in itself, one with a key of each kind.
    d = function(text)
        local value = {}
        for _ = 1, 10 * #text do value = {value} end
        return value
    end,
    i = function() local value = {1, 2} value[3] = value return value end,
    k = function(text)
        return {1, 2, [text] = text, [5e9] = 0.1, [-1] = {}, [true] = false}
    end,
}

local function value_of(text)
    local made, value = pcall(makers[text:sub(1, 1)], text:sub(2))
    return made and value or nil
end

-- Numbers of JSON have 14 digits.
local function same(a, b, digits)
    if type(a) ~= type(b) then return false end
    if type(a) == 'number' then
        return a == b or (a ~= a and b ~= b) or
            (digits and digits:format(a) == digits:format(b))
    end
    if type(a) ~= 'table' then return a == b end
    for key, value in pairs(a) do
        if not same(value, b[key], digits) then return false end
    end
    for key in pairs(b) do
        if a[key] == nil then return false end
    end
    return true
end

-- Infinite if a table is a key, which is not found again.
local function depth_of(value)
    local most = 0
    if type(value) ~= 'table' then return 0 end
    for key, item in pairs(value) do
        if type(key) == 'table' then return math.huge end
        most = math.max(most, depth_of(item))
    end
    return most + 1
end

--------------------------------------------------------------- round trips

local checks = {}

checks['cjson.decode'] = function(text)
    local decoded, value = pcall(cjson.decode, text)
    if not decoded then return end -- `json` may take more
    local encoded, again = pcall(cjson.encode, value)
    if encoded then
        expect(same(value, cjson.decode(again), '%.14g'), 'cjson: ' .. again)
    else
        expect(again:find('NaN or Inf'), 'cjson.encode: ' .. again)
    end
end

checks['cjson.encode'] = function(value)
    local encoded, text = pcall(cjson.encode, value)
    if not encoded then return end
    local decoded, why = pcall(cjson.decode, text)
    expect(decoded, 'cjson.decode: ' .. tostring(why) .. ' of ' .. text)
end

checks['cmsgpack.unpack'] = function(text)
    local values = {cmsgpack.unpack(text)}
    for _, value in pairs(values) do
        if depth_of(value) <= 16 then
            local packed = cmsgpack.pack(value)
            local again = cmsgpack.unpack(packed)
            expect(same(value, again), 'cmsgpack.pack: another value')
            expect(cmsgpack.unpack_one(packed) == -1, 'cmsgpack.unpack_one')
        end
    end
end

checks['struct.pack'] = function(format, ...)
    local packed = struct.pack(format, ...)
    local sized, size = pcall(struct.size, format)
    if sized then
        expect(size == #packed, 'struct.size: ' .. size)
    end
    for _, argument in pairs({...}) do
        -- A text with zeros ends at the first one; negative numbers that are
        -- read as unsigned are inexact.
        if type(argument) == 'string' and argument:find('%z') then return end
        if not tonumber(argument) and type(argument) ~= 'string' then return end
        if tonumber(argument) and not (tonumber(argument) >= 0) then return end
    end
    if format:find('c0') or format:find('c[^%d]') or format:find('c$') then
        return
    end
    local values = {struct.unpack(format, packed)}
    local position = table.remove(values)
    expect(position == #packed + 1, 'struct.unpack: ' .. position)
    expect(struct.pack(format, unpack(values)) == packed, 'struct.pack')
end

local function check_bits(a, b)
    a = tonumber(a)
    b = tonumber(b)
    if not a or not b then return end
    if math.abs(a) > 2^51 or math.abs(b) > 2^51 then return end
    local bits = bit.tobit(a)
    expect(bits >= -2^31 and bits < 2^31, 'bit.tobit')
    expect(bit.bnot(bit.bnot(a)) == bits, 'bit.bnot')
    expect(bit.bswap(bit.bswap(a)) == bits, 'bit.bswap')
    expect(bit.rol(bit.ror(a, b), b) == bits, 'bit.rol')
    expect(bit.bxor(bit.bxor(a, b), b) == bits, 'bit.bxor')
    expect(tonumber(bit.tohex(a), 16) == bits % 2^32, 'bit.tohex')
    expect(#bit.tohex(a, b) <= 8, 'bit.tohex: its size')
end

--------------------------------------------------------------------- calls

local function call(name, arguments, count)
    local library, short = name:match('^(%a+)%.([%a_]+)$')
    local check = checks[name] or (library == 'bit' and check_bits)
    local worked
    worked, last = pcall(libraries[library][short],
                         unpack(arguments, 1, count))
    expect(worked or type(last) == 'string', name .. ': an error without text')
    if worked and check then
        local checked, why = pcall(check, unpack(arguments, 1, count))
        why = tostring(why)
        expect(checked or why:find('memory'), name .. ', again: ' .. why)
    end
end

local name, arguments, count = nil, {}, 0
for at = 1, #ARGV + 1 do
    local text = ARGV[at]
    if not text or text:sub(1, 1) == '=' then
        if name then call(name, arguments, count) end
        name, arguments, count = text and text:sub(2), {}, 0
    else
        count = count + 1
        arguments[count] = value_of(text)
    end
end
return broken or 'kept'
