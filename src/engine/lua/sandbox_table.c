/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_table.c - the library `table`, whose loops in C run as long as a
 * script says and where Lua calls no hook: these check the clock.
 */
#include <lualib.h>

#include "engine/lua/machine_state.h"

/* Cost of an element, ns. */
#define ELEMENT_NS 10u

static int count_elements(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    return (int)lua_objlen(lua, 1);
}

/* --------------------------------------------------------- insert, remove */

static int safe_insert(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    int end = count_elements(lua) + 1;
    int at = end;

    if (lua_gettop(lua) == 3)
        at = luaL_checkint(lua, 2);
    else if (lua_gettop(lua) != 2)
        return luaL_error(lua, "wrong number of arguments to 'insert'");
    hf__sandbox_may_write(lua, 1);
    for (int i = end; i > at; i--) {
        hf__machine_spend(lua, machine, ELEMENT_NS);
        lua_rawgeti(lua, 1, i - 1);
        lua_rawseti(lua, 1, i);
    }
    lua_rawseti(lua, 1, at);
    return 0;
}

static int safe_remove(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    int end = count_elements(lua);
    int at = luaL_optint(lua, 2, end);

    if (at < 1 || at > end)
        return 0;
    hf__sandbox_may_write(lua, 1);
    lua_rawgeti(lua, 1, at);
    for (; at < end; at++) {
        hf__machine_spend(lua, machine, ELEMENT_NS);
        lua_rawgeti(lua, 1, at + 1);
        lua_rawseti(lua, 1, at);
    }
    lua_pushnil(lua);
    lua_rawseti(lua, 1, end);
    return 1;
}

/* ----------------------------------------------------------------- concat */

static void add_field(lua_State *lua, hf__machine *machine, int at)
{
    const char *text;
    size_t size;

    lua_rawgeti(lua, 1, at);
    if (!lua_isstring(lua, -1))
        luaL_error(lua, "invalid value (%s) at index %d in table for 'concat'",
                   luaL_typename(lua, -1), at);
    text = lua_tolstring(lua, -1, &size);
    hf__machine_spend(lua, machine, 2 * ELEMENT_NS + size / 4);
    hf__lua_buf_add(lua, machine, text, size);
    lua_pop(lua, 1);
}

static int safe_concat(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    const char *between;
    int at, last;
    size_t size;

    between = luaL_optlstring(lua, 2, "", &size);
    luaL_checktype(lua, 1, LUA_TTABLE);
    at = luaL_optint(lua, 3, 1);
    last =
        lua_isnoneornil(lua, 4) ? count_elements(lua) : luaL_checkint(lua, 4);
    hf__lua_buf_open(lua, machine);
    for (; at < last; at++) {
        add_field(lua, machine, at);
        hf__lua_buf_add(lua, machine, between, size);
    }
    if (at == last)
        add_field(lua, machine, at);
    hf__lua_buf_push(lua, machine);
    return 1;
}

/* ------------------------------------------------------------------ walks */

static int safe_foreachi(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    int count = count_elements(lua);

    luaL_checktype(lua, 2, LUA_TFUNCTION);
    for (int i = 1; i <= count; i++) {
        hf__machine_spend(lua, machine, 5 * ELEMENT_NS);
        lua_pushvalue(lua, 2);
        lua_pushinteger(lua, i);
        lua_rawgeti(lua, 1, i);
        lua_call(lua, 2, 1);
        if (!lua_isnil(lua, -1))
            return 1;
        lua_pop(lua, 1);
    }
    return 0;
}

static int safe_foreach(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);

    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checktype(lua, 2, LUA_TFUNCTION);
    lua_pushnil(lua);
    while (lua_next(lua, 1) != 0) {
        hf__machine_spend(lua, machine, 5 * ELEMENT_NS);
        lua_pushvalue(lua, 2);
        lua_pushvalue(lua, -3);
        lua_pushvalue(lua, -3);
        lua_call(lua, 2, 1);
        if (!lua_isnil(lua, -1))
            return 1;
        lua_pop(lua, 2);
    }
    return 0;
}

static int safe_maxn(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    lua_Number most = 0;

    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_pushnil(lua);
    while (lua_next(lua, 1) != 0) {
        hf__machine_spend(lua, machine, ELEMENT_NS);
        lua_pop(lua, 1);
        if (lua_type(lua, -1) == LUA_TNUMBER && lua_tonumber(lua, -1) > most)
            most = lua_tonumber(lua, -1);
    }
    lua_pushnumber(lua, most);
    return 1;
}

/* ------------------------------------------------------------------- sort */

/* Is the value at `a` before that at `b`? Both are negative. */
static bool is_before(lua_State *lua, hf__machine *machine, int a, int b)
{
    bool before;

    hf__machine_spend(lua, machine, 5 * ELEMENT_NS);
    if (lua_isnil(lua, 2)) {
        if (lua_type(lua, a) == LUA_TSTRING)
            hf__machine_spend(lua, machine, lua_objlen(lua, a));
        return lua_lessthan(lua, a, b);
    }
    lua_pushvalue(lua, 2);
    lua_pushvalue(lua, a - 1);
    lua_pushvalue(lua, b - 2);
    lua_call(lua, 2, 1);
    before = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    return before;
}

/* Put the value at the top into [i], the next into [j]. */
static void put_two(lua_State *lua, int i, int j)
{
    lua_rawseti(lua, 1, i);
    lua_rawseti(lua, 1, j);
}

/* Swap [low] and [high] if out of order. */
static void order_two(lua_State *lua, hf__machine *machine, int low, int high)
{
    lua_rawgeti(lua, 1, low);
    lua_rawgeti(lua, 1, high);
    if (is_before(lua, machine, -1, -2))
        put_two(lua, low, high);
    else
        lua_pop(lua, 2);
}

/* Move [middle] between the other two, which are in order. */
static void order_middle(lua_State *lua, hf__machine *machine, int low,
                         int middle, int high)
{
    lua_rawgeti(lua, 1, middle);
    lua_rawgeti(lua, 1, low);
    if (is_before(lua, machine, -2, -1)) {
        put_two(lua, middle, low);
        return;
    }
    lua_pop(lua, 1);
    lua_rawgeti(lua, 1, high);
    if (is_before(lua, machine, -1, -2))
        put_two(lua, middle, high);
    else
        lua_pop(lua, 2);
}

/* Partition the range by the pivot at the top, which is popped; returns its
 * position. */
static int divide_range(lua_State *lua, hf__machine *machine, int low, int high)
{
    int i = low;
    int j = high - 1;

    for (;;) {
        for (lua_rawgeti(lua, 1, ++i); is_before(lua, machine, -1, -2);
             lua_rawgeti(lua, 1, ++i)) {
            if (i > high)
                luaL_error(lua, "invalid order function for sorting");
            lua_pop(lua, 1);
        }
        for (lua_rawgeti(lua, 1, --j); is_before(lua, machine, -3, -1);
             lua_rawgeti(lua, 1, --j)) {
            if (j < low)
                luaL_error(lua, "invalid order function for sorting");
            lua_pop(lua, 1);
        }
        if (j < i)
            break;
        put_two(lua, i, j);
    }
    lua_pop(lua, 3);
    return i;
}

/* The quicksort of Lua 5.1, step by step: scripts can see the order of equal
 * values. It recurses for the smaller part. */
static void sort_part(lua_State *lua, hf__machine *machine, int low, int high)
{
    while (low < high) {
        int middle = (int)(((unsigned)low + (unsigned)high) / 2);

        order_two(lua, machine, low, high);
        if (high - low == 1)
            return;
        order_middle(lua, machine, low, middle, high);
        if (high - low == 2)
            return;
        lua_rawgeti(lua, 1, middle);
        lua_pushvalue(lua, -1);
        lua_rawgeti(lua, 1, high - 1);
        put_two(lua, middle, high - 1);
        middle = divide_range(lua, machine, low, high);
        lua_rawgeti(lua, 1, high - 1);
        lua_rawgeti(lua, 1, middle);
        put_two(lua, high - 1, middle);
        if (middle - low < high - middle) {
            sort_part(lua, machine, low, middle - 1);
            low = middle + 1;
        } else {
            sort_part(lua, machine, middle + 1, high);
            high = middle - 1;
        }
    }
}

static int safe_sort(lua_State *lua)
{
    int count = count_elements(lua);

    luaL_checkstack(lua, 40, "");
    if (!lua_isnoneornil(lua, 2))
        luaL_checktype(lua, 2, LUA_TFUNCTION);
    lua_settop(lua, 2);
    if (count > 1)
        hf__sandbox_may_write(lua, 1);
    sort_part(lua, hf__machine_of(lua), 1, count);
    return 0;
}

static const luaL_Reg functions[] = {
    {"insert", safe_insert},   {"remove", safe_remove},
    {"concat", safe_concat},   {"foreachi", safe_foreachi},
    {"foreach", safe_foreach}, {"maxn", safe_maxn},
    {"sort", safe_sort},       {NULL, NULL}};

void hf__sandbox_table(lua_State *lua)
{
    hf__sandbox_replace(lua, LUA_TABLIBNAME, functions);
}
