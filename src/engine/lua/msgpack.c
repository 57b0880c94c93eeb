/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msgpack.c - the library `cmsgpack`, with the bytes, results and messages of
 * Redis's: integers and floats in their shortest form, a table whose keys are
 * 1 to its length as an array, nil below PACK_DEPTH_MAX tables.
 */
#include "engine/lua/msgpack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "engine/lua/machine_state.h"

/* Cost of a value, ns, in addition to its bytes. */
#define VALUE_NS 60u

#define PACK_DEPTH_MAX 16
/* Each level uses C stack. */
#define UNPACK_DEPTH_MAX 2000

/* ------------------------------------------------------------------ packing */

typedef struct msgpack_writer {
    lua_State *lua;
    hf__machine *machine;
} msgpack_writer;

static void put_byte(const msgpack_writer *to, unsigned byte)
{
    hf__lua_buf_byte(to->lua, to->machine, (char)byte);
}

/* `mark`, and the low `size` bytes of `bits`, the highest first. */
static void put_bits(const msgpack_writer *to, unsigned mark, uint64_t bits,
                     unsigned size)
{
    put_byte(to, mark);
    for (unsigned i = size; i-- > 0;)
        put_byte(to, (unsigned)(bits >> (8 * i)) & 0xff);
}

static void put_integer(const msgpack_writer *to, int64_t number)
{
    uint64_t bits = (uint64_t)number;

    if (number >= -32 && number <= 127)
        put_byte(to, (unsigned)bits & 0xff);
    else if (number >= 0 && bits <= UINT8_MAX)
        put_bits(to, 0xcc, bits, 1);
    else if (number >= 0 && bits <= UINT16_MAX)
        put_bits(to, 0xcd, bits, 2);
    else if (number >= 0 && bits <= UINT32_MAX)
        put_bits(to, 0xce, bits, 4);
    else if (number >= 0)
        put_bits(to, 0xcf, bits, 8);
    else if (number >= INT8_MIN)
        put_bits(to, 0xd0, bits, 1);
    else if (number >= INT16_MIN)
        put_bits(to, 0xd1, bits, 2);
    else if (number >= INT32_MIN)
        put_bits(to, 0xd2, bits, 4);
    else
        put_bits(to, 0xd3, bits, 8);
}

static void put_number(const msgpack_writer *to)
{
    double number = lua_tonumber(to->lua, -1);
    float single = (float)number;
    uint64_t bits = 0;
    uint32_t single_bits = 0;

    if (number >= -0x1p63 && number < 0x1p63 && floor(number) == number) {
        put_integer(to, (int64_t)number);
    } else if ((double)single == number) {
        memcpy(&single_bits, &single, sizeof(single));
        put_bits(to, 0xca, single_bits, 4);
    } else {
        memcpy(&bits, &number, sizeof(number));
        put_bits(to, 0xcb, bits, 8);
    }
}

static void put_string(const msgpack_writer *to)
{
    size_t size;
    const char *text = lua_tolstring(to->lua, -1, &size);

    if (size < 32)
        put_byte(to, 0xa0 | (unsigned)size);
    else if (size <= UINT8_MAX)
        put_bits(to, 0xd9, size, 1);
    else if (size <= UINT16_MAX)
        put_bits(to, 0xda, size, 2);
    else
        put_bits(to, 0xdb, size, 4);
    hf__machine_spend(to->lua, to->machine, size / 4);
    hf__lua_buf_add(to->lua, to->machine, text, size);
}

/* The pairs of the table at the top; *is_array: its keys are 1 to that. */
static size_t count_pairs(const msgpack_writer *to, bool *is_array)
{
    size_t count = 0;
    double most = 0;

    *is_array = true;
    for (lua_pushnil(to->lua); lua_next(to->lua, -2) != 0; count++) {
        double key = lua_type(to->lua, -2) == LUA_TNUMBER
                         ? lua_tonumber(to->lua, -2)
                         : 0;

        hf__machine_spend(to->lua, to->machine, 15);
        lua_pop(to->lua, 1);
        if (!(key >= 1 && key <= INT_MAX && floor(key) == key))
            *is_array = false;
        else if (key > most)
            most = key;
    }
    if (most != (double)count)
        *is_array = false;
    return count;
}

/* `tiny` for less than 16 elements, else `mark` with 2 bytes, or the next one
 * with 4. */
static void put_count(const msgpack_writer *to, size_t count, unsigned tiny,
                      unsigned mark)
{
    if (count < 16)
        put_byte(to, tiny | (unsigned)count);
    else if (count <= UINT16_MAX)
        put_bits(to, mark, count, 2);
    else
        put_bits(to, mark + 1, count, 4);
}

static void put_value(const msgpack_writer *to, int depth);

static void put_table(const msgpack_writer *to, int depth)
{
    bool is_array;
    size_t count = count_pairs(to, &is_array);

    put_count(to, count, is_array ? 0x90 : 0x80, is_array ? 0xdc : 0xde);
    for (size_t i = 1; is_array && i <= count; i++) {
        lua_rawgeti(to->lua, -1, (int)i);
        put_value(to, depth);
        lua_pop(to->lua, 1);
    }
    if (is_array)
        return;
    for (lua_pushnil(to->lua); lua_next(to->lua, -2) != 0;) {
        lua_pushvalue(to->lua, -2);
        put_value(to, depth);
        lua_pop(to->lua, 1);
        put_value(to, depth);
        lua_pop(to->lua, 1);
    }
}

/* The value at the top, in `depth` tables. */
static void put_value(const msgpack_writer *to, int depth)
{
    int type = lua_type(to->lua, -1);

    luaL_checkstack(to->lua, 8, "too many nested tables");
    hf__machine_spend(to->lua, to->machine, VALUE_NS);
    if (type == LUA_TSTRING)
        put_string(to);
    else if (type == LUA_TNUMBER)
        put_number(to);
    else if (type == LUA_TBOOLEAN)
        put_byte(to, lua_toboolean(to->lua, -1) ? 0xc3 : 0xc2);
    else if (type == LUA_TTABLE && depth < PACK_DEPTH_MAX)
        put_table(to, depth + 1);
    else
        put_byte(to, 0xc0);
}

static int msgpack_pack(lua_State *lua)
{
    msgpack_writer to = {lua, hf__machine_of(lua)};
    int count = lua_gettop(lua);

    if (count == 0)
        return luaL_argerror(lua, 0, "MessagePack pack needs input.");
    luaL_checkstack(lua, 1, "Too many arguments for MessagePack pack.");
    hf__lua_buf_open(lua, to.machine);
    for (int i = 1; i <= count; i++) {
        lua_pushvalue(lua, i);
        put_value(&to, 0);
        lua_pop(lua, 1);
    }
    hf__lua_buf_push(lua, to.machine);
    return 1;
}

/* ---------------------------------------------------------------- unpacking */

typedef struct msgpack_reader {
    lua_State *lua;
    hf__machine *machine;
    const unsigned char *at;
    const unsigned char *end;
} msgpack_reader;

static const unsigned char *take_bytes(msgpack_reader *from, size_t size)
{
    const unsigned char *at = from->at;

    if (size > (size_t)(from->end - at))
        luaL_error(from->lua, "Missing bytes in input.");
    from->at += size;
    return at;
}

static uint64_t take_bits(msgpack_reader *from, size_t size)
{
    const unsigned char *at = take_bytes(from, size);
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | at[i];
    return bits;
}

static void push_string(msgpack_reader *from, size_t size)
{
    const unsigned char *text = take_bytes(from, size);

    hf__machine_spend(from->lua, from->machine, size / 4);
    lua_pushlstring(from->lua, (const char *)text, size);
}

static void push_value(msgpack_reader *from, int depth);

static void push_table(msgpack_reader *from, uint64_t count, bool is_array,
                       int depth)
{
    if (depth > UNPACK_DEPTH_MAX)
        luaL_error(from->lua, "Too many nested tables in input.");
    lua_newtable(from->lua);
    for (uint64_t i = 1; i <= count; i++) {
        if (is_array)
            lua_pushnumber(from->lua, (lua_Number)i);
        else
            push_value(from, depth);
        push_value(from, depth);
        lua_settable(from->lua, -3);
    }
}

static void push_float(msgpack_reader *from, bool single)
{
    uint64_t bits = take_bits(from, single ? 4 : 8);
    uint32_t low = (uint32_t)bits;
    float half = 0;
    double number = 0;

    memcpy(&half, &low, sizeof(half));
    memcpy(&number, &bits, sizeof(number));
    lua_pushnumber(from->lua, single ? (double)half : number);
}

/* An integer of 1, 2, 4 or 8 bytes. */
static void push_signed(msgpack_reader *from, unsigned mark)
{
    size_t size = (size_t)1 << (mark & 3);
    uint64_t bits = take_bits(from, size) << (64 - 8 * size);

    lua_pushnumber(from->lua, (lua_Number)((int64_t)bits >> (64 - 8 * size)));
}

/* What has its size in the following bytes; false: not of the format. */
static bool push_marked(msgpack_reader *from, unsigned mark, int depth)
{
    if (mark == 0xc0)
        lua_pushnil(from->lua);
    else if (mark == 0xc2 || mark == 0xc3)
        lua_pushboolean(from->lua, mark == 0xc3);
    else if (mark == 0xca || mark == 0xcb)
        push_float(from, mark == 0xca);
    else if (mark >= 0xcc && mark <= 0xcf)
        lua_pushnumber(from->lua,
                       (lua_Number)take_bits(from, (size_t)1 << (mark & 3)));
    else if (mark >= 0xd0 && mark <= 0xd3)
        push_signed(from, mark);
    else if (mark >= 0xd9 && mark <= 0xdb)
        push_string(from, take_bits(from, (size_t)1 << (mark - 0xd9)));
    else if (mark >= 0xdc)
        push_table(from, take_bits(from, mark & 1 ? 4 : 2), mark < 0xde, depth);
    else
        return false;
    return true;
}

static void push_value(msgpack_reader *from, int depth)
{
    unsigned mark = (unsigned)take_bits(from, 1);

    luaL_checkstack(from->lua, 4, "in function cmsgpack.unpack");
    hf__machine_spend(from->lua, from->machine, VALUE_NS);
    if (mark < 0x80 || mark >= 0xe0)
        lua_pushnumber(from->lua, (signed char)mark);
    else if (mark < 0xa0)
        push_table(from, mark & 15, mark >= 0x90, depth + 1);
    else if (mark < 0xc0)
        push_string(from, mark & 31);
    else if (!push_marked(from, mark, depth + 1))
        luaL_error(from->lua, "Bad data format in input.");
}

/* Up to `limit` values, with the offset behind them in front; 0 and 0: all,
 * without one. */
static int unpack_some(lua_State *lua, int limit, int offset)
{
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    bool all = limit == 0 && offset == 0;
    msgpack_reader from = {.lua = lua, .machine = hf__machine_of(lua)};
    int count = 0;

    if (offset < 0 || limit < 0)
        return luaL_error(lua,
                          "Invalid request to unpack with offset of %d and "
                          "limit of %d.",
                          offset, (int)size);
    if ((size_t)offset > size)
        return luaL_error(lua, "Start offset %d greater than input length %d.",
                          offset, (int)size);
    from.at = (const unsigned char *)text + offset;
    from.end = (const unsigned char *)text + size;
    for (; from.at < from.end && (all || count < limit); count++)
        push_value(&from, 0);
    if (all)
        return count;
    lua_pushinteger(lua, from.at == from.end
                             ? -1
                             : (lua_Integer)size - (from.end - from.at));
    lua_insert(lua, 2);
    return count + 1;
}

static int msgpack_unpack(lua_State *lua)
{
    return unpack_some(lua, 0, 0);
}

static int unpack_one(lua_State *lua)
{
    int offset = (int)luaL_optinteger(lua, 2, 0);

    lua_settop(lua, 1);
    return unpack_some(lua, 1, offset);
}

static int unpack_limit(lua_State *lua)
{
    int limit = (int)luaL_checkinteger(lua, 2);
    int offset = (int)luaL_optinteger(lua, 3, 0);

    lua_settop(lua, 1);
    return unpack_some(lua, limit, offset);
}

static const luaL_Reg functions[] = {{"pack", msgpack_pack},
                                     {"unpack", msgpack_unpack},
                                     {"unpack_one", unpack_one},
                                     {"unpack_limit", unpack_limit},
                                     {NULL, NULL}};

void hf__msgpack_push(lua_State *lua)
{
    lua_newtable(lua);
    luaL_register(lua, NULL, functions);
    lua_pushliteral(lua, "cmsgpack");
    lua_setfield(lua, -2, "_NAME");
    lua_pushliteral(lua, "lua-cmsgpack 0.4.0");
    lua_setfield(lua, -2, "_VERSION");
    lua_pushliteral(lua, "MessagePack C implementation for Lua");
    lua_setfield(lua, -2, "_DESCRIPTION");
}
