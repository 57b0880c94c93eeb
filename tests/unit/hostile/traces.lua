-- SPDX-License-Identifier: Apache-2.0
-- All that a script can find in what it did not make itself, as one text:
-- names, types, constants, and what each way of reading gives.
local lines, seen, todo = {}, {}, {}
local function name(value)
  if type(value) == 'string' or type(value) == 'number' or type(value) == 'boolean' then
    return type(value) .. ' ' .. tostring(value)
  end
  return type(value)
end
local function add(path, what)
  lines[#lines + 1] = path .. ': ' .. what
end
local function visit(value, path)
  if type(value) == 'table' and not seen[value] then
    seen[value] = true
    todo[#todo + 1] = {value, path}
  end
end
local readers = {
  function(t) return #t end,
  function(t) return rawget(t, 1), rawget(t, 'secret'), rawget(t, -3), rawget(t, 1000) end,
  function(t) return next(t) ~= nil and 'some' or 'none' end,
  function(t) return unpack(t, -3, 3) end,
  function(t) return table.concat(t, ',') end,
  function(t) return table.maxn(t) end,
  function(t) return cjson.encode(t) end,
  function(t) return cmsgpack.pack(t) end,
  function(t) local found = '' for i, v in ipairs(t) do found = found .. i .. name(v) end return found end,
  function(t) local found = '' table.foreach(t, function(k, v) found = found .. name(k) .. name(v) end) return found end,
  function(t) return name(t[1]), name(t.secret) end,
  function(t) return name(setmetatable({}, {__index = t})[1]) end,
}
visit(_G, '_G')
for _, value in ipairs({'', 1, true, cjson.null, visit, coroutine.create(visit)}) do
  add(type(value) .. '<meta>', name(getmetatable(value)))
  visit(getmetatable(value), type(value) .. '<meta>')
end
while #todo > 0 do
  local t, path = unpack(table.remove(todo))
  for k, v in pairs(t) do
    add(path .. '.' .. name(k), name(v))
    visit(k, path .. '<key>')
    visit(v, path .. '.' .. tostring(k))
  end
  add(path .. '<meta>', name(getmetatable(t)))
  visit(getmetatable(t), path .. '<meta>')
  for i, reader in ipairs(readers) do
    local found = {pcall(reader, t)}
    for at = 1, #found do found[at] = name(found[at]) end
    add(path .. ' reader ' .. i, table.concat(found, ' '))
  end
end
add('redis', name(redis.call('get', 'none')) .. ' ' .. tostring(#redis.call('time')))
add('cjson', cjson.encode({1 / 3, {{}}}) .. name(pcall(cjson.encode, 1 / 0)))
add('cjson', name(cjson.decode('[[[1]]]')[1][1][1]))
table.sort(lines)
return {#lines, redis.sha1hex(table.concat(lines, '\n'))}
