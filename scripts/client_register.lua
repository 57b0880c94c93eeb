--[[
client_register - say which process a client is, for a while.

KEYS[1]  registration: where the client says who it is
ARGV[1]  age: of the client, ms
ARGV[2]  about: what the client is, lines
ARGV[3]  ttl: ms

Returns  1.
Repeat   safe: a second run sets the same, and an opening later by the time
         between the two.
Writes   KEYS[1]: the instant when the client was opened, Unix ms of the store's
         clock, and the lines. Cost O(1).
]]
local now = redis.call('time')
local opened = now[1] * 1000 + math.floor(now[2] / 1000) - ARGV[1]
redis.call('set', KEYS[1], string.format('%.0f\n%s', opened, ARGV[2]),
    'px', ARGV[3])
return 1
