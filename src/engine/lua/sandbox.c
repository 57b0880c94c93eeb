/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - what scripts can reach, and what they cannot change.
 *
 * Scripts get empty proxy tables: reads fall through to the real ones, writes
 * are refused, so that no script can change what another one relies on; next()
 * and pairs() walk the real tables. Redis instead has
 * read-only tables in its Lua; the only visible difference is table.foreach()
 * on a library, which finds nothing here.
 *
 * Nothing here gives access to files, processes or bytecode: Lua 5.1 does not
 * verify bytecode, so loading it would break the sandbox.
 */
#include <math.h>
#include <string.h>

#include "engine/lua/cjson.h"
#include "engine/lua/machine_state.h"
#include "engine/lua/msgpack.h"

/* These headers need Lua's first. */
#include <lua-bitop.h>
#include <lualib.h>

#define MISSING "Script attempted to access nonexistent global variable '%s'"

/* ------------------------------------------------------- protecting tables */

static int refuse_missing(lua_State *lua)
{
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2)
                                                       : luaL_typename(lua, 2);

    return luaL_error(lua, MISSING, name);
}

static int safe_rawget(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checkany(lua, 2);
    lua_settop(lua, 2);
    hf__sandbox_push_protected(lua, 1);
    if (lua_istable(lua, 3))
        lua_replace(lua, 1);
    else
        lua_pop(lua, 1);
    lua_rawget(lua, 1);
    return 1;
}

static int safe_rawset(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checkany(lua, 2);
    luaL_checkany(lua, 3);
    lua_settop(lua, 3);
    hf__sandbox_may_write(lua, 1);
    lua_rawset(lua, 1);
    return 1;
}

static int safe_next(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 2);
    hf__sandbox_push_protected(lua, 1);
    if (lua_istable(lua, 3))
        lua_replace(lua, 1);
    else
        lua_pop(lua, 1);
    if (lua_next(lua, 1) != 0)
        return 2;
    lua_pushnil(lua);
    return 1;
}

/* Ordinary tables are walked by Lua's own next(), which is faster. */
static int safe_pairs(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    hf__sandbox_push_protected(lua, 1);
    if (lua_isnil(lua, -1))
        lua_pushvalue(lua, lua_upvalueindex(1));
    else
        lua_pushcfunction(lua, safe_next);
    lua_pushvalue(lua, 1);
    lua_pushnil(lua);
    return 3;
}

/* As Lua's own, but proxies are read-only, as in Redis. */
static int safe_setmetatable(lua_State *lua)
{
    int type = lua_type(lua, 2);

    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_argcheck(lua, type == LUA_TNIL || type == LUA_TTABLE, 2,
                  "nil or table expected");
    hf__sandbox_may_write(lua, 1);
    if (luaL_getmetafield(lua, 1, "__metatable"))
        return luaL_error(lua, "cannot change a protected metatable");
    lua_settop(lua, 2);
    lua_setmetatable(lua, 1);
    return 1;
}

/* --------------------------------------------------- functions of our own */

/* POSIX lrand48(), so that a script that calls math.randomseed() gets the same
 * numbers as in Redis. Otherwise the sequence continues from the last script;
 * it starts at random, or all processes would get the same. */
static uint32_t draw_random(hf__machine *machine)
{
    machine->random = (machine->random * UINT64_C(0x5deece66d) + 0xb) &
                      UINT64_C(0xffffffffffff);
    return (uint32_t)(machine->random >> 17);
}

static int safe_random(lua_State *lua)
{
    lua_Number most = 2147483647.0;
    lua_Number r =
        (lua_Number)(draw_random(hf__machine_of(lua)) % 2147483647u) / most;
    int low, high;

    switch (lua_gettop(lua)) {
    case 0:
        lua_pushnumber(lua, r);
        return 1;
    case 1:
        low = 1;
        high = luaL_checkint(lua, 1);
        luaL_argcheck(lua, low <= high, 1, "interval is empty");
        break;
    case 2:
        low = luaL_checkint(lua, 1);
        high = luaL_checkint(lua, 2);
        luaL_argcheck(lua, low <= high, 2, "interval is empty");
        break;
    default:
        return luaL_error(lua, "wrong number of arguments");
    }
    lua_pushnumber(lua, floor(r * ((lua_Number)high - low + 1)) + low);
    return 1;
}

static int safe_randomseed(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    uint32_t seed = (uint32_t)luaL_checkint(lua, 1);

    if (!machine->seeded)
        machine->unseeded = machine->random;
    machine->seeded = true;
    machine->random = (uint64_t)seed << 16 | 0x330e;
    return 0;
}

void hf__sandbox_end_seed(hf__machine *machine)
{
    if (machine->seeded)
        machine->random = machine->unseeded;
    machine->seeded = false;
}

static const luaL_Reg replacements[] = {{"next", safe_next},
                                        {"rawget", safe_rawget},
                                        {"rawset", safe_rawset},
                                        {"setmetatable", safe_setmetatable},
                                        {"tonumber", hf__sandbox_tonumber},
                                        {NULL, NULL}};

static const luaL_Reg math_replacements[] = {
    {"random", safe_random}, {"randomseed", safe_randomseed}, {NULL, NULL}};

/* The part of Lua's base library that Redis 7.0 exposes. */
static const char *const base_names[] = {
    "assert",       "collectgarbage", "coroutine", "error",      "gcinfo",
    "getmetatable", "ipairs",         "load",      "loadstring", "next",
    "pairs",        "pcall",          "rawequal",  "rawget",     "rawset",
    "select",       "setmetatable",   "tonumber",  "tostring",   "type",
    "unpack",       "xpcall",         "_VERSION"};

static const char *const library_names[] = {
    "string", "table", "math", "cjson", "cmsgpack", "struct", "bit", "redis"};

/* ---------------------------------------------------------------- building */

static void open_library(lua_State *lua, lua_CFunction open, const char *name)
{
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 1);
    if (name[0] != '\0')
        lua_setglobal(lua, name);
    else
        lua_pop(lua, 1);
}

/* Lua's own globals, complete. */
static void open_libraries(lua_State *lua, hf__machine *machine)
{
    open_library(lua, luaopen_base, "");
    open_library(lua, luaopen_string, LUA_STRLIBNAME);
    open_library(lua, luaopen_table, LUA_TABLIBNAME);
    open_library(lua, luaopen_math, LUA_MATHLIBNAME);
    hf__json_push(lua, &machine->json);
    lua_setglobal(lua, "cjson");
    hf__msgpack_push(lua);
    lua_setglobal(lua, "cmsgpack");
    hf__struct_push(lua);
    lua_setglobal(lua, "struct");
    open_library(lua, luaopen_bit, "bit");
    hf__sandbox_bit(lua);
    hf__sandbox_control(lua);
    hf__sandbox_pattern(lua);
    hf__sandbox_string(lua);
    hf__sandbox_table(lua);
    hf__lua_redis_push(lua, machine);
    lua_setglobal(lua, "redis");
    hf__sandbox_replace(lua, LUA_MATHLIBNAME, math_replacements);
}

/* Copy base functions from Lua's globals into the table at the top. */
static void copy_base(lua_State *lua)
{
    for (size_t i = 0; i < sizeof(base_names) / sizeof(base_names[0]); i++) {
        lua_getglobal(lua, base_names[i]);
        lua_setfield(lua, -2, base_names[i]);
    }
    lua_getfield(lua, -1, "next");
    lua_pushcclosure(lua, safe_pairs, 1);
    lua_setfield(lua, -2, "pairs");
    luaL_register(lua, NULL, replacements);
}

/* The metatable of strings must not expose a writable table; the globals are at
 * the top. */
static void protect_strings(lua_State *lua)
{
    lua_pushliteral(lua, "");
    if (lua_getmetatable(lua, -1)) {
        lua_newtable(lua);
        lua_getfield(lua, -4, LUA_STRLIBNAME);
        lua_setfield(lua, -2, "__index");
        hf__sandbox_protect(lua);
        lua_setfield(lua, -2, "__metatable");
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

void hf__sandbox_refuse_missing(lua_State *lua)
{
    lua_newtable(lua);
    lua_pushcfunction(lua, refuse_missing);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2);
}

/* The real globals of users' scripts; reading an undefined one is an error. */
static void push_user_env(lua_State *lua)
{
    lua_newtable(lua);
    copy_base(lua);
    lua_getfield(lua, -1, "coroutine");
    hf__sandbox_protect(lua);
    lua_setfield(lua, -2, "coroutine");
    for (size_t i = 0; i < sizeof(library_names) / sizeof(library_names[0]);
         i++) {
        lua_getglobal(lua, library_names[i]);
        hf__sandbox_protect(lua);
        lua_setfield(lua, -2, library_names[i]);
    }
    protect_strings(lua);
    hf__sandbox_refuse_missing(lua);
}

/* Replace the globals of `lua` by a proxy; the real ones stay at the top.
 * Chunks loaded from now on only see the proxy. */
static void use_user_env(lua_State *lua)
{
    push_user_env(lua);
    lua_pushvalue(lua, -1);
    hf__sandbox_protect(lua);
    /* getmetatable(_G) is a table in Redis. */
    (void)lua_getmetatable(lua, -1);
    lua_newtable(lua);
    hf__sandbox_protect(lua);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, "_G");
    lua_replace(lua, LUA_GLOBALSINDEX);
}

void hf__sandbox_clear_args(lua_State *lua)
{
    hf__sandbox_push_protected(lua, LUA_GLOBALSINDEX);
    lua_pushliteral(lua, "KEYS");
    lua_pushnil(lua);
    lua_rawset(lua, -3);
    lua_pushliteral(lua, "ARGV");
    lua_pushnil(lua);
    lua_rawset(lua, -3);
    lua_pop(lua, 1);
}

/* In the registry: the table of users' functions. */
static char users_key;

void hf__sandbox_push_users(lua_State *lua)
{
    lua_pushlightuserdata(lua, &users_key);
    lua_rawget(lua, LUA_REGISTRYINDEX);
}

void hf__sandbox_build(lua_State *lua, hf__machine *machine)
{
    open_libraries(lua, machine);
    hf__sandbox_make_proxies(lua);
    lua_createtable(lua, 2, 0); /* HF__UP_USER_FUNCTIONS */
    for (int i = 1; i <= 2; i++) {
        lua_newtable(lua);
        lua_rawseti(lua, -2, i);
    }
    lua_pushlightuserdata(lua, &users_key);
    lua_pushvalue(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);
    use_user_env(lua); /* HF__UP_USER_ENV */
}
