/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_encode.c - cjson.encode().
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/lua/cjson.h"
#include "engine/lua/machine_state.h"

/* Cost of a value, ns, in addition to its bytes. */
#define VALUE_NS 60u

typedef struct json_writer {
    lua_State *lua;
    hf__machine *machine;
    const hf__json *settings;
} json_writer;

static int fail_type(const json_writer *to, int index, const char *why)
{
    return luaL_error(to->lua, "Cannot serialise %s: %s",
                      luaL_typename(to->lua, index), why);
}

static void put_text(const json_writer *to, const char *text)
{
    hf__lua_buf_add(to->lua, to->machine, text, strlen(text));
}

/* ----------------------------------------------------------------- strings */

/* The escape of a byte. false: needs none. */
static bool escape_byte(unsigned char byte, char text[8])
{
    static const char named[] = "\bb\tt\nn\ff\rr\"\"\\\\//";

    for (const char *at = named; *at != '\0'; at += 2) {
        if (byte == (unsigned char)at[0]) {
            (void)snprintf(text, 8, "\\%c", at[1]);
            return true;
        }
    }
    if (byte >= 32 && byte != 127)
        return false;
    (void)snprintf(text, 8, "\\u%04x", byte);
    return true;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 32 && byte != '"' && byte != '\\' && byte != '/' &&
           byte != 127;
}

static void put_string(const json_writer *to, int index)
{
    size_t size;
    const char *text = lua_tolstring(to->lua, index, &size);
    const char *end = text + size;
    char escaped[8];

    hf__lua_buf_byte(to->lua, to->machine, '"');
    while (text < end) {
        const char *from = text;

        while (text < end && is_plain((unsigned char)*text))
            text++;
        hf__machine_spend(to->lua, to->machine, 20 + (size_t)(text - from));
        hf__lua_buf_add(to->lua, to->machine, from, (size_t)(text - from));
        if (text < end && escape_byte((unsigned char)*text++, escaped))
            put_text(to, escaped);
    }
    hf__lua_buf_byte(to->lua, to->machine, '"');
}

/* ----------------------------------------------------------------- numbers */

static void put_number(const json_writer *to, int index)
{
    lua_Number number = lua_tonumber(to->lua, index);
    char text[32];

    if (isfinite(number))
        (void)snprintf(text, sizeof(text), "%.*g", to->settings->precision,
                       number);
    else if (to->settings->encode_numbers == HF__JSON_REFUSE)
        (void)fail_type(to, index, "must not be NaN or Inf");
    else if (to->settings->encode_numbers == HF__JSON_NULL)
        (void)snprintf(text, sizeof(text), "null");
    else if (isnan(number))
        (void)snprintf(text, sizeof(text), "nan");
    else
        (void)snprintf(text, sizeof(text), number < 0 ? "-inf" : "inf");
    put_text(to, text);
}

/* ------------------------------------------------------------------ tables */

/* The length of the array at the top; 0: it is an object. */
static int count_array(const json_writer *to)
{
    const hf__json *settings = to->settings;
    double most = 0;
    double count = 0;

    lua_pushnil(to->lua);
    while (lua_next(to->lua, -2) != 0) {
        double key = lua_type(to->lua, -2) == LUA_TNUMBER
                         ? lua_tonumber(to->lua, -2)
                         : 0;

        hf__machine_spend(to->lua, to->machine, 15);
        lua_pop(to->lua, 1);
        if (!(key >= 1) || floor(key) != key) {
            lua_pop(to->lua, 1);
            return 0;
        }
        if (key > most) /* an int in Redis */
            most = key <= INT_MAX ? key : INT_MIN;
        count++;
    }
    if (settings->sparse_ratio > 0 && most > count * settings->sparse_ratio &&
        most > settings->sparse_safe) {
        if (!settings->sparse_convert)
            (void)fail_type(to, -1, "excessively sparse array");
        return 0;
    }
    return most > 0 ? (int)most : 0;
}

static void put_value(const json_writer *to, int depth);

static void put_array(const json_writer *to, int count, int depth)
{
    hf__lua_buf_byte(to->lua, to->machine, '[');
    for (int i = 1; i <= count; i++) {
        if (i > 1)
            hf__lua_buf_byte(to->lua, to->machine, ',');
        lua_rawgeti(to->lua, -1, i);
        put_value(to, depth);
        lua_pop(to->lua, 1);
        if (i == INT_MAX)
            break;
    }
    hf__lua_buf_byte(to->lua, to->machine, ']');
}

static void put_key(const json_writer *to)
{
    switch (lua_type(to->lua, -2)) {
    case LUA_TNUMBER:
        hf__lua_buf_byte(to->lua, to->machine, '"');
        put_number(to, -2);
        hf__lua_buf_byte(to->lua, to->machine, '"');
        break;
    case LUA_TSTRING:
        put_string(to, -2);
        break;
    default:
        (void)fail_type(to, -2, "table key must be a number or string");
    }
    hf__lua_buf_byte(to->lua, to->machine, ':');
}

static void put_object(const json_writer *to, int depth)
{
    bool first = true;

    hf__lua_buf_byte(to->lua, to->machine, '{');
    lua_pushnil(to->lua);
    while (lua_next(to->lua, -2) != 0) {
        if (!first)
            hf__lua_buf_byte(to->lua, to->machine, ',');
        first = false;
        put_key(to);
        put_value(to, depth);
        lua_pop(to->lua, 1);
    }
    hf__lua_buf_byte(to->lua, to->machine, '}');
}

static void put_table(const json_writer *to, int depth)
{
    int count;

    if (depth > to->settings->encode_depth || depth > HF__JSON_DEPTH_MAX ||
        !lua_checkstack(to->lua, 8))
        luaL_error(to->lua, "Cannot serialise, excessive nesting (%d)", depth);
    count = count_array(to);
    if (count > 0)
        put_array(to, count, depth);
    else
        put_object(to, depth);
}

/* The value at the top, `depth` tables deep. */
static void put_value(const json_writer *to, int depth)
{
    hf__machine_spend(to->lua, to->machine, VALUE_NS);
    switch (lua_type(to->lua, -1)) {
    case LUA_TSTRING:
        put_string(to, -1);
        return;
    case LUA_TNUMBER:
        put_number(to, -1);
        return;
    case LUA_TBOOLEAN:
        put_text(to, lua_toboolean(to->lua, -1) ? "true" : "false");
        return;
    case LUA_TTABLE:
        put_table(to, depth + 1);
        return;
    case LUA_TNIL:
        put_text(to, "null");
        return;
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(to->lua, -1) == NULL) {
            put_text(to, "null");
            return;
        }
        break;
    default:
        break;
    }
    (void)fail_type(to, -1, "type not supported");
}

int hf__json_encode(lua_State *lua)
{
    json_writer to = {lua, hf__machine_of(lua),
                      lua_touserdata(lua, lua_upvalueindex(1))};

    luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
    hf__lua_buf_open(lua, to.machine);
    put_value(&to, 0);
    hf__lua_buf_push(lua, to.machine);
    return 1;
}
