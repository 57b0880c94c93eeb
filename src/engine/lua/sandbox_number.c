/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_number.c - bit.tohex(), and a tonumber() that is fast for integers as
 * the store returns them: Lua's calls strtod() twice for a string.
 */
#include <ctype.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/keys/number_text.h"
#include "engine/lua/machine_state.h"

static int read_decimal(lua_State *lua)
{
    lua_Number number;
    const char *text;
    size_t size;

    luaL_checkany(lua, 1);
    if (lua_type(lua, 1) == LUA_TSTRING) {
        text = lua_tolstring(lua, 1, &size);
        if (hf__number_digits(hf_view(text, size), &number)) {
            lua_pushnumber(lua, number);
            return 1;
        }
    }
    if (lua_isnumber(lua, 1))
        lua_pushnumber(lua, lua_tonumber(lua, 1));
    else
        lua_pushnil(lua);
    return 1;
}

int hf__sandbox_tonumber(lua_State *lua)
{
    int base = luaL_optint(lua, 2, 10);
    const char *text;
    unsigned long number;
    char *end;

    if (base == 10)
        return read_decimal(lua);
    text = luaL_checkstring(lua, 1);
    luaL_argcheck(lua, base >= 2 && base <= 36, 2, "base out of range");
    number = strtoul(text, &end, base);
    if (end != text) {
        while (isspace((unsigned char)*end))
            end++;
    }
    if (end == text || *end != '\0')
        lua_pushnil(lua);
    else
        lua_pushnumber(lua, (lua_Number)number);
    return 1;
}

/* The lowest 32 bits of a number, as in lua-bitop: adding 2^52 + 2^51 leaves
 * its rounded integer part there. */
static uint32_t low_bits(lua_Number number)
{
    uint64_t bits;

    number += 6755399441055744.0;
    memcpy(&bits, &number, sizeof(bits));
    return (uint32_t)bits;
}

/* The original negates -2147483648 and overruns its buffer. */
static int safe_tohex(lua_State *lua)
{
    static const char upper[] = "0123456789ABCDEF";
    static const char lower[] = "0123456789abcdef";
    uint32_t bits = low_bits(luaL_checknumber(lua, 1));
    int count =
        lua_isnone(lua, 2) ? 8 : (int)low_bits(luaL_checknumber(lua, 2));
    const char *digits = count < 0 ? upper : lower;
    char text[8];

    if (count < -8 || count > 8)
        count = 8;
    else if (count < 0)
        count = -count;
    for (int i = count; --i >= 0; bits >>= 4)
        text[i] = digits[bits & 15];
    lua_pushlstring(lua, text, (size_t)count);
    return 1;
}

static const luaL_Reg bit[] = {{"tohex", safe_tohex}, {NULL, NULL}};

void hf__sandbox_bit(lua_State *lua)
{
    hf__sandbox_replace(lua, "bit", bit);
}
