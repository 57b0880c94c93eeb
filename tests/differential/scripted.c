/* SPDX-License-Identifier: Apache-2.0 */
/* scripted.c - commands that are compared inside a script. */
#include "scripted.h"

#include "grammar.h"

/* What a whole scan returns, each once and in order. The cursor is the word "0"
 * in the row. ZSCAN's large scores are printed digit by digit in a small sorted
 * set of Redis and not in a large one. */
#define SCAN                                                                   \
    "local words, seen, names, out = ARGV, {}, {}, {}\n"                       \
    "local at = words[1]:lower() == 'scan' and 2 or 3\n"                       \
    "local pairs_of = words[1]:lower() == 'hscan' or "                         \
    "words[1]:lower() == 'zscan'\n"                                            \
    "local step = pairs_of and 2 or 1\n"                                       \
    "for call = 1, 100000 do\n"                                                \
    "    local reply = redis.call(unpack(words))\n"                            \
    "    for i = 1, #reply[2], step do\n"                                      \
    "        local name = reply[2][i]\n"                                       \
    "        local value = pairs_of and reply[2][i + 1] or ''\n"               \
    "        if words[1]:lower() == 'zscan' then\n"                            \
    "            value = string.format('%.17g', tonumber(value))\n"            \
    "        end\n"                                                            \
    "        if not seen[name] then names[#names + 1] = name end\n"            \
    "        seen[name] = value\n"                                             \
    "    end\n"                                                                \
    "    words[at] = reply[1]\n"                                               \
    "    if reply[1] == '0' then break end\n"                                  \
    "end\n"                                                                    \
    "table.sort(names)\n"                                                      \
    "for _, name in ipairs(names) do\n"                                        \
    "    out[#out + 1] = name\n"                                               \
    "    out[#out + 1] = seen[name]\n"                                         \
    "end\n"                                                                    \
    "return out\n"

/* Ranges of members are defined only where all scores are equal. */
#define LEX                                                                    \
    "local key = table.remove(ARGV, 1)\n"                                      \
    "redis.call('zunionstore', 'same', 1, key, 'weights', 0)\n"                \
    "local out = {redis.pcall(unpack(ARGV))}\n"                                \
    "out[2] = redis.call('zrange', 'same', 0, -1)\n"                           \
    "out[3] = redis.call('zrange', 'stored', 0, -1)\n"                         \
    "redis.call('del', 'same', 'stored')\n"                                    \
    "return out\n"

/* All that a script can see, except whose the libraries are. */
#define ENVIRONMENT                                                            \
    "local out, except = {}, {_COPYRIGHT = 1, "                                \
    "__redis__err__handler = 1}\n"                                             \
    "local function collect(prefix, t)\n"                                      \
    "    for k, v in pairs(t) do\n"                                            \
    "        local plain = type(v) == 'string' or type(v) == 'number'\n"       \
    "        if not except[k] then\n"                                          \
    "            out[#out + 1] = prefix .. k .. ' ' .. type(v) .. "            \
    "(plain and tostring(v) or '')\n"                                          \
    "        end\n"                                                            \
    "        if type(v) == 'table' and k ~= '_G' and not except[k] and "       \
    "prefix == '' then\n"                                                      \
    "            collect(k .. '.', v)\n"                                       \
    "        end\n"                                                            \
    "    end\n"                                                                \
    "end\n"                                                                    \
    "collect('', _G)\n"                                                        \
    "table.sort(out)\n"                                                        \
    "return out\n"

/* Collections that are large in Redis and in ours. */
#define FILL                                                                   \
    "local kind, key, step = unpack(ARGV)\n"                                   \
    "local out\n"                                                              \
    "for i = 1, 300 do\n"                                                      \
    "    local name = 'm' .. (i * tonumber(step) % 307)\n"                     \
    "    if kind == 'zadd' then\n"                                             \
    "        out = redis.call(kind, key, i % 17, name)\n"                      \
    "    elseif kind == 'hset' then\n"                                         \
    "        out = redis.call(kind, key, name, i)\n"                           \
    "    else\n"                                                               \
    "        out = redis.call(kind, key, name)\n"                              \
    "    end\n"                                                                \
    "end\n"                                                                    \
    "return out\n"

/* Random results are members, as many as they should be; then all is deleted,
 * as the rest is random too. */
#define CHANCE                                                                 \
    "local key = ARGV[2]\n"                                                    \
    "local members = redis.pcall('smembers', key)\n"                           \
    "local got = redis.pcall(unpack(ARGV))\n"                                  \
    "local left = redis.pcall('scard', key)\n"                                 \
    "if members.err then return members end\n"                                 \
    "if type(got) == 'table' and got.err then return {got, left} end\n"        \
    "local is_there = {}\n"                                                    \
    "for _, name in ipairs(members) do is_there[name] = 1 end\n"               \
    "if type(got) == 'string' then got = {got} end\n"                          \
    "for _, name in ipairs(got or {}) do\n"                                    \
    "    if not is_there[name] or redis.call('sismember', key, name) == 1 "    \
    "then\n"                                                                   \
    "        return 'not taken out: ' .. name\n"                               \
    "    end\n"                                                                \
    "end\n"                                                                    \
    "redis.call('del', key)\n"                                                 \
    "return {#members, got and #got, left}\n"

const scripted_row scripted_rows[] = {
    {"set", 4, "spop K ?N", CHANCE},
    {"script", 1, "", ENVIRONMENT},
    {"zset", 1, "(zadd|zadd) K (7|11|13)", FILL},
    {"hash", 1, "(hset|hset) K (7|11|13)", FILL},
    {"set", 1, "(sadd|sadd) K (7|11|13)", FILL},
    {"list", 1, "(rpush|lpush) K (7|11|13)", FILL},
    {"key", 3, "scan 0 *(match J|count N|type Y)", SCAN},
    {"hash", 3, "hscan K 0 *(match J|count N)", SCAN},
    {"zset", 3, "zscan K 0 *(match J|count N)", SCAN},
    {"zset", 5, "K (zrangebylex|zrevrangebylex) same X X *(limit N N)", LEX},
    {"zset", 2, "K (zrangebylex|zrevrangebylex) same X X ?withscores", LEX},
    {"zset", 4, "K zrange same X X bylex *(rev|limit N N)", LEX},
    {"zset", 3, "K zrangestore stored same X X bylex *(rev|limit N N)", LEX},
    {"zset", 3, "K zlexcount same X X", LEX},
    {"zset", 3, "K zremrangebylex same X X", LEX},
};

const size_t scripted_row_count =
    sizeof(scripted_rows) / sizeof(scripted_rows[0]);

op scripted_make(maker *make, const scripted_row *row)
{
    op made = grammar_words(make, row->words);

    made.kind = OP_SCRIPT;
    made.source = row->source;
    return made;
}
