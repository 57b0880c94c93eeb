-- SPDX-License-Identifier: Apache-2.0
-- Every way to write into every table that a script can reach, including each
-- function that it can reach, called with that table in any place. Returns how
-- many tables, functions and writes there were, and what was accepted.
local tables, functions, accepted, tries = {}, {}, {}, 0
local seen = {}
local function visit(value, path)
  if type(value) == 'function' and not seen[value] then
    seen[value] = path
    functions[#functions + 1] = value
  elseif type(value) == 'table' and not seen[value] then
    seen[value] = path
    tables[#tables + 1] = value
    for k, v in pairs(value) do
      visit(k, path .. '<key>')
      visit(v, path .. '.' .. tostring(k))
    end
    visit(getmetatable(value), path .. '<meta>')
  end
end
visit(_G, '_G')
for _, value in ipairs({'', 1, true, cjson.null, visit, coroutine.create(visit)}) do
  visit(getmetatable(value), type(value) .. '<meta>')
end
visit(getmetatable(nil), 'nil<meta>')
-- These are made for each run.
local own = {[KEYS] = true, [ARGV] = true}
local secret = 'secret'
local ways = {
  function(t) t[1] = secret end,
  function(t) t[secret] = secret end,
  function(t) t[secret] = secret end,
  function(t) for k in pairs(t) do t[k] = secret end error('none') end,
  function(t) for k in pairs(t) do rawset(t, k, nil) end error('none') end,
  function(t) for k in next, t do t[k] = nil end error('none') end,
  function(t) rawset(t, 1, secret) end,
  function(t) rawset(t, secret, secret) end,
  function(t) table.insert(t, secret) end,
  function(t) table.insert(t, 1, secret) end,
  function(t) table.insert(t, 1000, secret) end,
  function(t) table.insert(t, -3, secret) end,
  function(t) setmetatable({}, {__newindex = t})[secret] = secret end,
  function(t) setmetatable({}, {__newindex = rawset})[t] = secret error('none') end,
  function(t) setmetatable(t, {}) end,
  function(t) setmetatable(t, nil) end,
  function(t) setmetatable(t, {__index = {secret}, __newindex = rawset}) end,
  function(t) getmetatable(t).__index = {secret} end,
  function(t) getmetatable(t).__newindex = nil end,
  function(t) rawset(getmetatable(t), '__index', secret) end,
  function(t) coroutine.wrap(function() table.insert(t, secret) end)() end,
  function(t) loadstring('local t = ... t[1] = "secret"')(t) end,
  function(t) loadstring('table.insert(..., "secret")')(t) end,
  function(t) local ok, e = xpcall(function() table.insert(t, secret) end, function(e) return e end)
    if not ok then error(e) end end,
  function(t) ('x'):gsub('x', function() table.insert(t, secret) end) end,
}
for _, t in ipairs(tables) do
  if not own[t] then
    for at, way in ipairs(ways) do
      tries = tries + 1
      if pcall(way, t) then
        accepted[#accepted + 1] = seen[t] .. ' way ' .. at
      end
    end
  end
end
-- A reader may succeed: what counts is what the next script finds.
local function one(f, ...)
  tries = tries + 1
  pcall(f, ...)
end
for _, t in ipairs(tables) do
  for _, f in ipairs(functions) do
    if not own[t] and f ~= error then
      one(f, t)
      one(f, t, secret)
      one(f, t, 1, secret)
      one(f, t, secret, 1)
      one(f, t, secret, secret)
      one(f, t, function() return secret end)
      one(f, t, t)
      one(f, secret, t)
      one(f, secret, '.', t)
      one(f, function() return secret end, t)
      one(f, {secret}, t)
      one(f, t, {secret})
      one(f, {__newindex = t}, t)
    end
  end
end
-- What is not a table, but outlives a script.
math.randomseed(42)
cjson.encode_invalid_numbers(true)
cjson.encode_max_depth(1)
cjson.decode_max_depth(1)
cjson.encode_number_precision(1)
redis.setresp(3)
collectgarbage('stop')
KEYS[1], ARGV[1] = secret, secret
KEYS[secret], ARGV[secret] = secret, secret
setmetatable(KEYS, {__index = function() return secret end})
setmetatable(ARGV, {__index = function() return secret end})
return {#tables, #functions, tries, table.concat(accepted, ', ')}
