/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_bounds.c - library functions that loop in C as often as a number in
 * the script says, where the count hook does not run: without a bound of their
 * own they would hold the store's writer lock far beyond the script's budget.
 *
 * Pattern matching can take long too; Lua 5.1 offers no way into it, and Redis
 * has the same limit.
 */
#include "store/embedded/lua/machine_state.h"

#include <lualib.h>
#include <string.h>

/* Moves of one table.insert(): more than any table has that fits into
 * HF__MACHINE_MEMORY_MAX. */
#define MOVES_MAX (1 << 23)

static int bounded_insert(lua_State *lua)
{
    int end, at;

    luaL_checktype(lua, 1, LUA_TTABLE);
    end = (int)lua_objlen(lua, 1) + 1;
    at = end;
    if (lua_gettop(lua) == 3)
        at = luaL_checkint(lua, 2);
    else if (lua_gettop(lua) != 2)
        return luaL_error(lua, "wrong number of arguments to 'insert'");
    if ((lua_Number)end - at > MOVES_MAX)
        return luaL_error(lua, "the position is too far before the end");
    for (int i = end; i > at; i--) {
        lua_rawgeti(lua, 1, i - 1);
        lua_rawseti(lua, 1, i);
    }
    lua_rawseti(lua, 1, at);
    return 0;
}

static int bounded_rep(lua_State *lua)
{
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    int count = luaL_checkint(lua, 2);
    char *all;

    if (count <= 0 || size == 0) {
        lua_pushliteral(lua, "");
        return 1;
    }
    if (size > (size_t)INT32_MAX / (size_t)count)
        return luaL_error(lua, "the string is too long");
    all = lua_newuserdata(lua, size * (size_t)count);
    for (int i = 0; i < count; i++)
        memcpy(all + (size_t)i * size, text, size);
    lua_pushlstring(lua, all, size * (size_t)count);
    return 1;
}

static void replace(lua_State *lua, const char *library, const char *name,
                    lua_CFunction function)
{
    lua_getglobal(lua, library);
    lua_pushcfunction(lua, function);
    lua_setfield(lua, -2, name);
    lua_pop(lua, 1);
}

void hf__sandbox_bound(lua_State *lua)
{
    replace(lua, LUA_TABLIBNAME, "insert", bounded_insert);
    replace(lua, LUA_STRLIBNAME, "rep", bounded_rep);
}
