/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_pattern.c - string.find, match, gmatch and gsub, using match.c.
 */
#include <lualib.h>
#include <string.h>

#include "engine/lua/match.h"

/* ------------------------------------------------------------ find, match */

/* The start, from 0. */
static size_t first_place(lua_State *lua, size_t size)
{
    ptrdiff_t at = luaL_optinteger(lua, 3, 1);

    if (at < 0)
        at += (ptrdiff_t)size + 1;
    if (at <= 0)
        return 0;
    return (size_t)at - 1 < size ? (size_t)at - 1 : size;
}

static int find_plain(lua_State *lua, hf_bytes text, size_t first,
                      hf_bytes wanted)
{
    const char *from = text.data;
    const char *found;

    hf__machine_spend(lua, hf__machine_of(lua), (text.size + wanted.size) / 2);
    found = memmem(from + first, text.size - first, wanted.data, wanted.size);
    if (found == NULL) {
        lua_pushnil(lua);
        return 1;
    }
    lua_pushinteger(lua, found - from + 1);
    lua_pushinteger(lua, found - from + (ptrdiff_t)wanted.size);
    return 2;
}

static int find_match(lua_State *lua, hf_bytes text, size_t first,
                      const char *pattern, bool find)
{
    const char *at = (const char *)text.data + first;
    bool anchored = *pattern == '^';
    const char *end;
    hf__match match;

    hf__match_init(&match, lua, text.data, text.size);
    if (anchored)
        pattern++;
    do {
        end = hf__match_at(&match, at, pattern);
        if (end != NULL && find) {
            lua_pushinteger(lua, at - match.text + 1);
            lua_pushinteger(lua, end - match.text);
            return hf__match_push_all(&match, NULL, NULL) + 2;
        }
        if (end != NULL)
            return hf__match_push_all(&match, at, end);
    } while (at++ < match.text_end && !anchored);
    lua_pushnil(lua);
    return 1;
}

static int find_or_match(lua_State *lua, bool find)
{
    hf_bytes text, pattern;
    size_t first;

    text.data = luaL_checklstring(lua, 1, &text.size);
    pattern.data = luaL_checklstring(lua, 2, &pattern.size);
    first = first_place(lua, text.size);
    if (find &&
        (lua_toboolean(lua, 4) || strpbrk(pattern.data, "^$*+?.([%-") == NULL))
        return find_plain(lua, text, first, pattern);
    return find_match(lua, text, first, pattern.data, find);
}

static int safe_find(lua_State *lua)
{
    return find_or_match(lua, true);
}

static int safe_match(lua_State *lua)
{
    return find_or_match(lua, false);
}

/* ----------------------------------------------------------------- gmatch */

/* Upvalues: the text, the pattern, the start. */
static int next_match(lua_State *lua)
{
    size_t size;
    const char *text = lua_tolstring(lua, lua_upvalueindex(1), &size);
    const char *pattern = lua_tostring(lua, lua_upvalueindex(2));
    const char *at = text + lua_tointeger(lua, lua_upvalueindex(3));
    hf__match match;

    hf__match_init(&match, lua, text, size);
    for (; at <= match.text_end; at++) {
        const char *end = hf__match_at(&match, at, pattern);

        if (end == NULL)
            continue;
        /* Never return an empty match twice. */
        lua_pushinteger(lua, end - text + (end == at));
        lua_replace(lua, lua_upvalueindex(3));
        return hf__match_push_all(&match, at, end);
    }
    return 0;
}

static int safe_gmatch(lua_State *lua)
{
    (void)luaL_checkstring(lua, 1);
    (void)luaL_checkstring(lua, 2);
    lua_settop(lua, 2);
    lua_pushinteger(lua, 0);
    lua_pushcclosure(lua, next_match, 3);
    return 1;
}

/* ------------------------------------------------------------------- gsub */

/* The replacement's text, with captures for %0 to %9. */
static void add_text(hf__match *match, const char *from, const char *to)
{
    size_t size;
    const char *text = lua_tolstring(match->lua, 3, &size);

    for (size_t i = 0; i < size; i++) {
        if (text[i] != '%') {
            hf__lua_buf_byte(match->lua, match->machine, text[i]);
            continue;
        }
        i++; /* a NUL follows the text */
        if (text[i] < '0' || text[i] > '9') {
            hf__lua_buf_byte(match->lua, match->machine, text[i]);
        } else if (text[i] == '0') {
            hf__lua_buf_add(match->lua, match->machine, from,
                            (size_t)(to - from));
        } else {
            hf_bytes capture;

            hf__match_push(match, text[i] - '1', from, to);
            capture.data = lua_tolstring(match->lua, -1, &capture.size);
            hf__lua_buf_add(match->lua, match->machine, capture.data,
                            capture.size);
            lua_pop(match->lua, 1);
        }
    }
    hf__machine_spend(match->lua, match->machine,
                      2 * size + (size_t)(to - from) / 4);
}

/* Replace the match by the function's or table's value; nil or false:
 * unchanged. */
static void add_value(hf__match *match, const char *from, const char *to)
{
    lua_State *lua = match->lua;
    hf_bytes value = hf_view(from, (size_t)(to - from));

    if (lua_type(lua, 3) == LUA_TFUNCTION) {
        lua_pushvalue(lua, 3);
        lua_call(lua, hf__match_push_all(match, from, to), 1);
    } else {
        hf__match_push(match, 0, from, to);
        lua_gettable(lua, 3);
    }
    if (lua_toboolean(lua, -1)) {
        value.data = lua_tolstring(lua, -1, &value.size);
        if (value.data == NULL)
            luaL_error(lua, "invalid replacement value (a %s)",
                       luaL_typename(lua, -1));
    }
    hf__machine_spend(lua, match->machine, 50 + value.size / 4);
    hf__lua_buf_add(lua, match->machine, value.data, value.size);
    lua_pop(lua, 1);
}

static int replace_all(hf__match *match, const char *pattern, int most)
{
    bool text = lua_type(match->lua, 3) != LUA_TFUNCTION &&
                lua_type(match->lua, 3) != LUA_TTABLE;
    bool anchored = *pattern == '^';
    const char *at = match->text;
    int count = 0;

    if (anchored)
        pattern++;
    while (count < most) {
        const char *end = hf__match_at(match, at, pattern);

        if (end != NULL) {
            count++;
            if (text)
                add_text(match, at, end);
            else
                add_value(match, at, end);
        }
        if (end != NULL && end > at)
            at = end;
        else if (at < match->text_end)
            hf__lua_buf_byte(match->lua, match->machine, *at++);
        else
            break;
        if (anchored)
            break;
    }
    hf__lua_buf_add(match->lua, match->machine, at,
                    (size_t)(match->text_end - at));
    return count;
}

static int safe_gsub(lua_State *lua)
{
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    const char *pattern = luaL_checkstring(lua, 2);
    int type = lua_type(lua, 3);
    int most =
        luaL_optint(lua, 4, size < INT32_MAX ? (int)size + 1 : INT32_MAX);
    hf__match match;
    int count;

    luaL_argcheck(lua,
                  type == LUA_TNUMBER || type == LUA_TSTRING ||
                      type == LUA_TFUNCTION || type == LUA_TTABLE,
                  3, "string/function/table expected");
    hf__match_init(&match, lua, text, size);
    hf__lua_buf_open(lua, match.machine);
    count = replace_all(&match, pattern, most);
    hf__lua_buf_push(lua, match.machine);
    lua_pushinteger(lua, count);
    return 2;
}

static const luaL_Reg functions[] = {{"find", safe_find},
                                     {"match", safe_match},
                                     {"gmatch", safe_gmatch},
                                     {"gsub", safe_gsub},
                                     {NULL, NULL}};

void hf__sandbox_pattern(lua_State *lua)
{
    hf__sandbox_replace(lua, LUA_STRLIBNAME, functions);
    lua_getglobal(lua, LUA_STRLIBNAME);
    lua_getfield(lua, -1, "gmatch");
    lua_setfield(lua, -2, "gfind");
    lua_pop(lua, 1);
}
