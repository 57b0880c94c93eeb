/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_proxy.c - read-only tables: an empty proxy through which reads fall
 * to the real table, and which refuses writes.
 */
#include "engine/lua/machine_state.h"

#define READ_ONLY "Attempt to modify a readonly table"

/* In the registry: from each proxy to its real table. */
static char protected_key;

void hf__sandbox_make_proxies(lua_State *lua)
{
    lua_pushlightuserdata(lua, &protected_key);
    lua_newtable(lua);
    lua_rawset(lua, LUA_REGISTRYINDEX);
}

static int refuse_write(lua_State *lua)
{
    return luaL_error(lua, READ_ONLY);
}

void hf__sandbox_push_protected(lua_State *lua, int index)
{
    lua_pushvalue(lua, index);
    lua_pushlightuserdata(lua, &protected_key);
    lua_rawget(lua, LUA_REGISTRYINDEX);
    lua_insert(lua, -2);
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
}

void hf__sandbox_protect(lua_State *lua)
{
    int real = lua_gettop(lua);

    lua_newtable(lua);
    lua_newtable(lua);
    lua_pushvalue(lua, real);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_write);
    lua_setfield(lua, -2, "__newindex");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
    lua_pushlightuserdata(lua, &protected_key);
    lua_rawget(lua, LUA_REGISTRYINDEX);
    lua_pushvalue(lua, -2);
    lua_pushvalue(lua, real);
    lua_rawset(lua, -3);
    lua_pop(lua, 1);
    lua_remove(lua, real);
}

/* Proxies cannot lose their metatable. */
void hf__sandbox_may_write(lua_State *lua, int index)
{
    if (!lua_getmetatable(lua, index))
        return;
    hf__sandbox_push_protected(lua, index);
    if (!lua_isnil(lua, -1)) {
        lua_pushliteral(lua, READ_ONLY);
        (void)lua_error(lua);
    }
    lua_pop(lua, 2);
}
