/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cjson.c - the library `cjson` as a script sees it: its table and settings.
 *
 * lua-cjson itself exits the process when its buffer becomes too long or memory
 * runs out, and its buffer is not subject to the script's memory limit.
 */
#include "engine/lua/cjson.h"

#include <limits.h>
#include <stdio.h>

#include "engine/lua/machine_state.h"

#define DEPTH_DEFAULT 1000
#define PRECISION_MAX 14

static const char *const switches[] = {"off", "on", NULL};
static const char *const number_modes[] = {"off", "on", "null", NULL};

void hf__json_reset(hf__json *settings)
{
    *settings = (hf__json){.sparse_ratio = 2,
                           .sparse_safe = 10,
                           .encode_depth = DEPTH_DEFAULT,
                           .decode_depth = DEPTH_DEFAULT,
                           .precision = PRECISION_MAX,
                           .keep_buffer = true,
                           .decode_numbers = true};
}

/* The settings; also pads the arguments to `count` with nil. */
static hf__json *settings_of(lua_State *lua, int count)
{
    luaL_argcheck(lua, lua_gettop(lua) <= count, count + 1,
                  "found too many arguments");
    lua_settop(lua, count);
    return lua_touserdata(lua, lua_upvalueindex(1));
}

/* Set an integer from an argument unless that is nil, and push it. */
static void set_integer(lua_State *lua, int arg, int *value, int least,
                        int most)
{
    char text[64];
    int given;

    if (!lua_isnil(lua, arg)) {
        given = (int)luaL_checkinteger(lua, arg);
        (void)snprintf(text, sizeof(text), "expected integer between %d and %d",
                       least, most);
        luaL_argcheck(lua, least <= given && given <= most, 1, text);
        *value = given;
    }
    lua_pushinteger(lua, *value);
}

/* The same with a choice, whose first two are false and true. */
static int set_choice(lua_State *lua, int arg, int value,
                      const char *const *names)
{
    if (lua_isboolean(lua, arg))
        value = lua_toboolean(lua, arg);
    else if (!lua_isnil(lua, arg))
        value = luaL_checkoption(lua, arg, NULL, names);
    if (value < 2)
        lua_pushboolean(lua, value);
    else
        lua_pushstring(lua, names[value]);
    return value;
}

static int set_sparse_array(lua_State *lua)
{
    hf__json *settings = settings_of(lua, 3);

    settings->sparse_convert =
        set_choice(lua, 1, settings->sparse_convert, switches) != 0;
    set_integer(lua, 2, &settings->sparse_ratio, 0, INT_MAX);
    set_integer(lua, 3, &settings->sparse_safe, 0, INT_MAX);
    return 3;
}

static int set_encode_depth(lua_State *lua)
{
    set_integer(lua, 1, &settings_of(lua, 1)->encode_depth, 1, INT_MAX);
    return 1;
}

static int set_decode_depth(lua_State *lua)
{
    set_integer(lua, 1, &settings_of(lua, 1)->decode_depth, 1, INT_MAX);
    return 1;
}

static int set_precision(lua_State *lua)
{
    set_integer(lua, 1, &settings_of(lua, 1)->precision, 1, PRECISION_MAX);
    return 1;
}

/* The setting has no effect. */
static int set_keep_buffer(lua_State *lua)
{
    hf__json *settings = settings_of(lua, 1);

    settings->keep_buffer =
        set_choice(lua, 1, settings->keep_buffer, switches) != 0;
    return 1;
}

static int set_encode_numbers(lua_State *lua)
{
    hf__json *settings = settings_of(lua, 1);

    settings->encode_numbers = (hf__json_numbers)set_choice(
        lua, 1, (int)settings->encode_numbers, number_modes);
    return 1;
}

static int set_decode_numbers(lua_State *lua)
{
    hf__json *settings = settings_of(lua, 1);

    settings->decode_numbers =
        set_choice(lua, 1, settings->decode_numbers, switches) != 0;
    return 1;
}

static int make_new(lua_State *lua);

static const luaL_Reg functions[] = {
    {"encode", hf__json_encode},
    {"decode", hf__json_decode},
    {"encode_sparse_array", set_sparse_array},
    {"encode_max_depth", set_encode_depth},
    {"decode_max_depth", set_decode_depth},
    {"encode_number_precision", set_precision},
    {"encode_keep_buffer", set_keep_buffer},
    {"encode_invalid_numbers", set_encode_numbers},
    {"decode_invalid_numbers", set_decode_numbers},
    {"new", make_new},
    {NULL, NULL}};

/* Replace the settings at the top by a table of functions that use them. */
static void push_functions(lua_State *lua)
{
    lua_newtable(lua);
    for (const luaL_Reg *at = functions; at->name != NULL; at++) {
        lua_pushvalue(lua, -2);
        lua_pushcclosure(lua, at->func, 1);
        lua_setfield(lua, -2, at->name);
    }
    lua_remove(lua, -2);
    lua_pushlightuserdata(lua, NULL);
    lua_setfield(lua, -2, "null");
    lua_pushliteral(lua, "cjson");
    lua_setfield(lua, -2, "_NAME");
    lua_pushliteral(lua, "2.1.0");
    lua_setfield(lua, -2, "_VERSION");
}

static int make_new(lua_State *lua)
{
    hf__json_reset(lua_newuserdata(lua, sizeof(hf__json)));
    push_functions(lua);
    return 1;
}

void hf__json_push(lua_State *lua, hf__json *settings)
{
    hf__json_reset(settings);
    lua_pushlightuserdata(lua, settings);
    push_functions(lua);
}
