/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_out.c - replies on Lua's stack, converted as by Redis: nil is false, a
 * status is a table with the field "ok". After redis.setresp(3) nil is nil, and
 * maps, sets, doubles and verbatim strings are tables with a field of that
 * name.
 *
 * Uses one stack slot per level and three more at most, fewer than
 * LUA_MINSTACK.
 */
#include <assert.h>
#include <string.h>

#include "engine/keys/number_text.h"
#include "engine/lua/machine_state.h"

/* Replace the value at the top by {name = value}. */
static void wrap_value(lua_State *lua, const char *name)
{
    lua_createtable(lua, 0, 1);
    lua_insert(lua, -2);
    lua_setfield(lua, -2, name);
}

/* Store the value at the top as the next of a map or a set. A key of a map
 * stays there until its value comes. */
static void store_resp3(lua_State *lua, const char *field, size_t number)
{
    if (strcmp(field, "set") == 0) {
        lua_pushboolean(lua, 1);
        lua_rawset(lua, -3);
    } else if (number % 2 == 0) {
        lua_rawset(lua, -3);
    }
}

/* The value at the top is complete: store it in its array. */
static void complete_value(hf__lua_out *out)
{
    while (out->depth > 0) {
        size_t level = out->depth - 1;
        const char *field = out->open[level].resp3_field;
        size_t number = ++out->open[level].next;

        if (field == NULL)
            lua_rawseti(out->lua, -2, (int)number);
        else
            store_resp3(out->lua, field, number);
        if (number < out->open[level].count)
            break;
        if (field != NULL)
            wrap_value(out->lua, field);
        out->depth--;
    }
}

static void reply_nil(hf__out *base)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    if (out->out.resp3)
        lua_pushnil(out->lua);
    else
        lua_pushboolean(out->lua, 0);
    complete_value(out);
}

static void reply_integer(hf__out *base, int64_t value)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    lua_pushnumber(out->lua, (lua_Number)value);
    complete_value(out);
}

static void reply_bytes(hf__out *base, const void *data, size_t size)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    if (size > *out->largest_size)
        *out->largest_size = size;
    hf__machine_spend(out->lua, hf__machine_of(out->lua), 50 + size / 4);
    lua_pushlstring(out->lua, data, size);
    complete_value(out);
}

static void put_digits(lua_State *lua, int64_t value, int at)
{
    char text[HF__NUMBER_TEXT_SIZE];

    lua_pushlstring(lua, text, hf__number_put_integer(text, value));
    lua_rawseti(lua, -2, at);
}

static void reply_instant(hf__out *base, int64_t unix_us)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    lua_createtable(out->lua, 2, 0);
    put_digits(out->lua, unix_us / 1000000, 1);
    put_digits(out->lua, unix_us % 1000000, 2);
    complete_value(out);
}

static void reply_line(hf__out *base, const char *text)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    lua_createtable(out->lua, 0, 1);
    lua_pushvalue(out->lua, lua_upvalueindex(HF__CALL_OK));
    lua_pushstring(out->lua, text);
    lua_rawset(out->lua, -3);
    complete_value(out);
}

static void open_level(hf__lua_out *out, size_t count, const char *field)
{
    assert(out->depth < HF__OUT_DEPTH);
    out->open[out->depth].next = 0;
    out->open[out->depth].count = count;
    out->open[out->depth].resp3_field = field;
    out->depth++;
}

static void reply_array(hf__out *base, size_t count)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    lua_createtable(out->lua, count < 1024 ? (int)count : 1024, 0);
    if (count == 0) {
        complete_value(out);
        return;
    }
    open_level(out, count, NULL);
}

static void reply_resp3(hf__lua_out *out, size_t count, const char *field)
{
    lua_newtable(out->lua);
    if (count > 0) {
        open_level(out, count, field);
        return;
    }
    wrap_value(out->lua, field);
    complete_value(out);
}

static void reply_map(hf__out *base, size_t count)
{
    reply_resp3((hf__lua_out *)(void *)base, 2 * count, "map");
}

static void reply_set(hf__out *base, size_t count)
{
    reply_resp3((hf__lua_out *)(void *)base, count, "set");
}

static void reply_real(hf__out *base, double value)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    lua_pushnumber(out->lua, value);
    wrap_value(out->lua, "double");
    complete_value(out);
}

static void reply_verbatim(hf__out *base, const void *data, size_t size)
{
    hf__lua_out *out = (hf__lua_out *)(void *)base;

    lua_createtable(out->lua, 0, 2);
    lua_pushlstring(out->lua, data, size);
    lua_setfield(out->lua, -2, "string");
    lua_pushliteral(out->lua, "txt");
    lua_setfield(out->lua, -2, "format");
    wrap_value(out->lua, "verbatim_string");
    complete_value(out);
}

static const hf__out_ops lua_ops = {reply_nil,   reply_nil,      reply_integer,
                                    reply_bytes, reply_instant,  reply_line,
                                    reply_array, reply_map,      reply_set,
                                    reply_real,  reply_verbatim, NULL};

void hf__lua_out_init(hf__lua_out *out, lua_State *lua, bool resp3,
                      size_t *largest_size)
{
    out->out.ops = &lua_ops;
    out->out.failed = false;
    out->out.resp3 = resp3;
    out->lua = lua;
    out->largest_size = largest_size;
    out->depth = 0;
}
