/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_reply.c - converting a script's result to a reply as Redis does: numbers
 * are truncated, false is nil, true is 1, a table with a string in "err" or
 * "ok" is an error or a status, any other table is an array up to its first
 * nil. Types that only RESP3 has are noted in the reply.
 */
#include <limits.h>
#include <string.h>

#include "engine/keys/number_text.h"
#include "engine/lua/machine_state.h"

/* Limit of nested tables. Redis's limit, its Lua stack, is far deeper, but of
 * no use. */
#define DEPTH_MAX 200

/* Bytes of "txt:". */
#define VERBATIM_FORMAT 4

/* Cost of a value, ns. */
#define VALUE_NS 30u

/* A script may return a table many times, or within itself: the conversion
 * counts against its time and memory. */
static void charge_value(lua_State *lua, size_t size)
{
    hf__machine *machine = hf__machine_of(lua);

    hf__machine_charge(lua, machine, size);
    hf__machine_spend(lua, machine, VALUE_NS + size / 4);
}

static bool set_text(hf_reply *reply, hf_reply_kind kind, lua_State *lua,
                     hf__arena *arena)
{
    size_t size;
    const char *text = lua_tolstring(lua, -1, &size);

    charge_value(lua, size);

    return hf__reply_set_bytes(reply, kind, text, size, arena);
}

/* One line, as in Redis. */
static bool set_line(hf_reply *reply, hf_reply_kind kind, lua_State *lua,
                     hf__arena *arena)
{
    size_t size;
    const char *text = lua_tolstring(lua, -1, &size);

    charge_value(lua, size);
    return hf__reply_set_line(reply, kind, text, size, arena);
}

/* Push a field of the table at the top if it has that type. */
static bool push_field(lua_State *lua, const char *name, int type)
{
    lua_pushstring(lua, name);
    lua_rawget(lua, -2);
    if (lua_type(lua, -1) == type)
        return true;
    lua_pop(lua, 1);
    return false;
}

static bool set_value(lua_State *lua, hf_reply *reply, hf__arena *arena,
                      int depth);

static bool set_array(lua_State *lua, hf_reply *reply, hf__arena *arena,
                      int depth)
{
    size_t count = 0;

    for (;;) {
        bool end;

        lua_rawgeti(lua, -1, (int)count + 1);
        end = lua_isnil(lua, -1);
        lua_pop(lua, 1);
        if (end || count == INT_MAX - 1)
            break;
        count++;
    }
    charge_value(lua, count * (sizeof(*reply) + VALUE_NS));
    if (!hf__reply_set_array(reply, count, arena))
        return false;
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(lua, -1, (int)i + 1);
        if (!set_value(lua, &reply->array.items[i], arena, depth + 1))
            return false;
        lua_pop(lua, 1);
    }
    return true;
}

/* The table at the top as keys, and values if `pairs`. */
static bool set_map(lua_State *lua, hf_reply *reply, hf__arena *arena,
                    int depth, bool pairs)
{
    hf_reply *item;
    size_t count = 0;

    lua_pushnil(lua);
    for (; lua_next(lua, -2) != 0; lua_pop(lua, 1))
        count++;
    charge_value(lua, count * 2 * (sizeof(*reply) + VALUE_NS));
    if (!hf__reply_set_array(reply, pairs ? 2 * count : count, arena))
        return false;
    item = reply->array.items;
    lua_pushnil(lua);
    while (lua_next(lua, -2) != 0) {
        if (pairs && !set_value(lua, item + 1, arena, depth + 1))
            return false;
        lua_pop(lua, 1);
        /* A copy: converting a number would change the key for lua_next(). */
        lua_pushvalue(lua, -1);
        if (!set_value(lua, item, arena, depth + 1))
            return false;
        lua_pop(lua, 1);
        item += pairs ? 2 : 1;
    }
    reply->resp3_type = pairs ? '%' : '~';
    return true;
}

static bool set_double(lua_State *lua, hf_reply *reply, hf__arena *arena)
{
    char text[HF__NUMBER_TEXT_SIZE];
    size_t size = hf__number_put_double(text, lua_tonumber(lua, -1));

    if (!hf__reply_set_bytes(reply, HF_REPLY_STRING, text, size, arena))
        return false;
    reply->resp3_type = ',';
    return true;
}

static bool set_big_number(lua_State *lua, hf_reply *reply, hf__arena *arena)
{
    if (!set_line(reply, HF_REPLY_STRING, lua, arena))
        return false;
    reply->resp3_type = '(';
    return true;
}

/* The format and the text are at the top. */
static bool set_verbatim_text(lua_State *lua, hf_reply *reply, hf__arena *arena)
{
    size_t format_size;
    const char *format = lua_tolstring(lua, -2, &format_size);

    if (format_size >= VERBATIM_FORMAT - 1)
        lua_pushlstring(lua, format, VERBATIM_FORMAT - 1);
    else
        lua_pushliteral(lua, "txt");
    lua_pushliteral(lua, ":");
    lua_pushvalue(lua, -3);
    lua_concat(lua, 3);
    if (!set_text(reply, HF_REPLY_STRING, lua, arena))
        return false;
    lua_pop(lua, 1);
    reply->bytes.data += VERBATIM_FORMAT;
    reply->bytes.size -= VERBATIM_FORMAT;
    reply->resp3_type = '=';
    return true;
}

static void set_boolean(hf_reply *reply, bool value, bool resp3)
{
    if (value || resp3)
        hf__reply_set_integer(reply, value);
    else
        hf__reply_set_nil(reply);
    if (resp3)
        reply->resp3_type = '#';
}

/* {verbatim_string = {format = ..., string = ...}} */
static bool set_verbatim(lua_State *lua, hf_reply *reply, hf__arena *arena,
                         bool *done)
{
    if (!push_field(lua, "verbatim_string", LUA_TTABLE))
        return false;
    if (push_field(lua, "format", LUA_TSTRING)) {
        lua_insert(lua, -2);
        if (push_field(lua, "string", LUA_TSTRING)) {
            lua_remove(lua, -2);
            *done = set_verbatim_text(lua, reply, arena);
            lua_pop(lua, 1);
            return true;
        }
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    return false;
}

/* Convert a table with a special field to its RESP2 form. The field is left at
 * the top; false: no such field. */
static bool set_special(lua_State *lua, hf_reply *reply, hf__arena *arena,
                        int depth, bool *done)
{
    if (push_field(lua, "err", LUA_TSTRING))
        *done = set_line(reply, HF_REPLY_ERROR, lua, arena);
    else if (push_field(lua, "ok", LUA_TSTRING))
        *done = set_line(reply, HF_REPLY_STATUS, lua, arena);
    else if (push_field(lua, "double", LUA_TNUMBER))
        *done = set_double(lua, reply, arena);
    else if (push_field(lua, "map", LUA_TTABLE))
        *done = set_map(lua, reply, arena, depth, true);
    else if (push_field(lua, "set", LUA_TTABLE))
        *done = set_map(lua, reply, arena, depth, false);
    else if (push_field(lua, "big_number", LUA_TSTRING))
        *done = set_big_number(lua, reply, arena);
    else
        return set_verbatim(lua, reply, arena, done);
    return true;
}

static bool set_table(lua_State *lua, hf_reply *reply, hf__arena *arena,
                      int depth)
{
    bool done;

    if (depth >= DEPTH_MAX || !lua_checkstack(lua, 8)) {
        static const char text[] = "ERR reached lua stack limit";

        return hf__reply_set_bytes(reply, HF_REPLY_ERROR, text,
                                   sizeof(text) - 1, arena);
    }
    if (!set_special(lua, reply, arena, depth, &done))
        return set_array(lua, reply, arena, depth);
    lua_pop(lua, 1);
    return done;
}

static bool set_value(lua_State *lua, hf_reply *reply, hf__arena *arena,
                      int depth)
{
    charge_value(lua, 0);
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
        return set_text(reply, HF_REPLY_STRING, lua, arena);
    case LUA_TNUMBER:
        hf__reply_set_integer(reply,
                              hf__number_truncated(lua_tonumber(lua, -1)));
        return true;
    case LUA_TBOOLEAN:
        set_boolean(reply, lua_toboolean(lua, -1), hf__machine_of(lua)->resp3);
        return true;
    case LUA_TTABLE:
        return set_table(lua, reply, arena, depth);
    default:
        hf__reply_set_nil(reply);
        return true;
    }
}

bool hf__lua_reply(lua_State *lua, hf_reply *reply, hf__arena *arena)
{
    bool done = set_value(lua, reply, arena, 0);

    if (done)
        lua_pop(lua, 1);
    return done;
}
