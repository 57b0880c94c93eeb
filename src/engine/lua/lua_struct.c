/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_struct.c - the library `struct`, with the formats, bytes and messages of
 * Redis's: `> < !` byte order and alignment, `b h l T i` and, unsigned,
 * `B H L I` integers, `f d` floats, `c s` strings, `x` a byte of padding.
 */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "engine/lua/machine_state.h"
#include "engine/lua/msgpack.h"

/* Cost of an element, ns, in addition to its bytes. */
#define ELEMENT_NS 40u

#define INTEGER_SIZE_MAX 32
#define ALIGN_DEFAULT 8

/* A format that is being read. */
typedef struct format {
    lua_State *lua;
    hf__machine *machine;
    const char *at;
    bool big_endian;
    size_t align;
} format;

/* An element of a format. */
typedef struct element {
    char option;
    size_t size; /* 0: of a string or of none */
    size_t padding;
} element;

static format open_format(lua_State *lua)
{
    return (format){.lua = lua,
                    .machine = hf__machine_of(lua),
                    .at = luaL_checkstring(lua, 1),
                    .align = 1};
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t read_number(format *from, size_t otherwise)
{
    size_t number = 0;

    if (!is_digit(*from->at))
        return otherwise;
    for (; is_digit(*from->at); from->at++) {
        number = number * 10 + (size_t)(*from->at - '0');
        if (number > INT_MAX)
            luaL_error(from->lua, "integral size overflow");
    }
    return number;
}

static size_t read_size(format *from, char option)
{
    size_t size;

    switch (option) {
    case 'B':
    case 'b':
    case 'x':
        return 1;
    case 'H':
    case 'h':
        return sizeof(short);
    case 'L':
    case 'l':
        return sizeof(long);
    case 'T':
        return sizeof(size_t);
    case 'f':
        return sizeof(float);
    case 'd':
        return sizeof(double);
    case 'c':
        return read_number(from, 1);
    case 'I':
    case 'i':
        size = read_number(from, sizeof(int));
        if (size > INTEGER_SIZE_MAX)
            luaL_error(from->lua, "integral size %d is larger than limit of %d",
                       (int)size, INTEGER_SIZE_MAX);
        return size;
    default:
        return 0;
    }
}

/* false: the format ends. */
static bool next_element(format *from, size_t position, element *found)
{
    size_t align;

    if (*from->at == '\0')
        return false;
    hf__machine_spend(from->lua, from->machine, ELEMENT_NS);
    found->option = *from->at++;
    found->size = read_size(from, found->option);
    align = found->size < from->align ? found->size : from->align;
    found->padding = 0;
    if (align > 0 && found->option != 'c')
        found->padding = (align - (position & (align - 1))) & (align - 1);
    return true;
}

static void set_option(format *from, char option)
{
    size_t align;

    if (option == '<' || option == '>') {
        from->big_endian = option == '>';
    } else if (option == '!') {
        align = read_number(from, ALIGN_DEFAULT);
        if (align == 0 || (align & (align - 1)) != 0)
            luaL_error(from->lua, "alignment %d is not a power of 2",
                       (int)align);
        from->align = align;
    } else if (option != ' ') {
        luaL_argerror(
            from->lua, 1,
            lua_pushfstring(from->lua, "invalid format option '%c'", option));
    }
}

static bool is_integer(char option)
{
    return strchr("bBhHlLTiI", option) != NULL;
}

/* ------------------------------------------------------------------ packing */

/* The low bytes of `bits`, and zeros. */
static void put_bits(const format *to, uint64_t bits, size_t size)
{
    char *room = hf__lua_buf_room(to->lua, to->machine, size);

    for (size_t i = 0; i < size; i++)
        room[to->big_endian ? size - 1 - i : i] =
            (char)(i < 8 ? bits >> (8 * i) & 0xff : 0);
    to->machine->bufs->used += size;
}

static uint64_t to_bits(double number)
{
    if (number >= -0x1p63 && number < 0)
        return (uint64_t)(int64_t)number;
    return number >= 0 && number < 0x1p64 ? (uint64_t)number
                                          : (uint64_t)1 << 63;
}

static void put_float(const format *to, double number, size_t size)
{
    float single = (float)number;
    uint32_t low = 0;
    uint64_t bits = 0;

    memcpy(&low, &single, sizeof(low));
    memcpy(&bits, &number, sizeof(bits));
    put_bits(to, size == sizeof(single) ? low : bits, size);
}

static size_t put_string(const format *to, const element *what, int arg)
{
    size_t size;
    const char *text = luaL_checklstring(to->lua, arg, &size);
    size_t used = what->size == 0 ? size : what->size;

    luaL_argcheck(to->lua, size >= used, arg + 1, "string too short");
    hf__machine_spend(to->lua, to->machine, used / 4);
    hf__lua_buf_add(to->lua, to->machine, text, used);
    if (what->option == 's')
        hf__lua_buf_byte(to->lua, to->machine, '\0');
    return used + (what->option == 's');
}

static int struct_pack(lua_State *lua)
{
    format to = open_format(lua);
    size_t position = 0;
    int arg = 2;
    element what;

    lua_pushnil(lua); /* that a missing argument is not one of its own */
    hf__lua_buf_open(lua, to.machine);
    while (next_element(&to, position, &what)) {
        put_bits(&to, 0, what.padding);
        position += what.padding + what.size;
        if (is_integer(what.option))
            put_bits(&to, to_bits(luaL_checknumber(lua, arg++)), what.size);
        else if (what.option == 'f' || what.option == 'd')
            put_float(&to, luaL_checknumber(lua, arg++), what.size);
        else if (what.option == 'c' || what.option == 's')
            position += put_string(&to, &what, arg++) - what.size;
        else if (what.option == 'x')
            hf__lua_buf_byte(lua, to.machine, '\0');
        else
            set_option(&to, what.option);
    }
    hf__lua_buf_push(lua, to.machine);
    return 1;
}

/* ---------------------------------------------------------------- unpacking */

typedef struct struct_reader {
    format format;
    const char *data;
    size_t size;
    size_t position;
    int count; /* of results */
} struct_reader;

static uint64_t take_bits(const struct_reader *from, size_t size)
{
    const unsigned char *at =
        (const unsigned char *)from->data + from->position;
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | at[from->format.big_endian ? i : size - 1 - i];
    return bits;
}

static double take_integer(const struct_reader *from, const element *what)
{
    uint64_t bits = take_bits(from, what->size);
    uint64_t sign = UINT64_MAX
                    << (what->size > 0 && what->size < 8 ? 8 * what->size - 1
                                                         : 63);

    if (isupper((unsigned char)what->option))
        return (double)bits;
    return (double)(int64_t)((bits & sign) != 0 ? bits | sign : bits);
}

static double take_float(const struct_reader *from, size_t size)
{
    uint64_t bits = take_bits(from, size);
    uint32_t low = (uint32_t)bits;
    float single = 0;
    double number = 0;

    memcpy(&single, &low, sizeof(single));
    memcpy(&number, &bits, sizeof(number));
    return size == sizeof(single) ? (double)single : number;
}

static void check_room(const struct_reader *from, size_t size)
{
    luaL_argcheck(from->format.lua,
                  size <= from->size && from->position <= from->size - size, 2,
                  "data string too short");
}

/* Its size is the result before it. */
static size_t take_size(struct_reader *from)
{
    lua_State *lua = from->format.lua;
    double size;

    if (from->count == 0 || !lua_isnumber(lua, -1))
        luaL_error(lua, "format 'c0' needs a previous size");
    size = lua_tonumber(lua, -1);
    lua_pop(lua, 1);
    from->count--;
    luaL_argcheck(lua, size >= 0 && size <= (double)from->size, 2,
                  "data string too short");
    check_room(from, (size_t)size);
    return (size_t)size;
}

static size_t push_string(struct_reader *from, const element *what)
{
    lua_State *lua = from->format.lua;
    const char *text = from->data + from->position;
    const char *end;
    size_t size = what->size;

    if (what->option == 'c') {
        if (size == 0)
            size = take_size(from);
        lua_pushlstring(lua, text, size);
        return size;
    }
    end = memchr(text, '\0', from->size - from->position);
    if (end == NULL) {
        luaL_error(lua, "unfinished string in data");
        return 0;
    }
    lua_pushlstring(lua, text, (size_t)(end - text));
    return (size_t)(end - text) + 1;
}

/* Push the element, or obey the option; returns its size. */
static size_t take_element(struct_reader *from, const element *what)
{
    lua_State *lua = from->format.lua;
    size_t size = what->size;

    if (is_integer(what->option)) {
        lua_pushnumber(lua, take_integer(from, what));
    } else if (what->option == 'f' || what->option == 'd') {
        lua_pushnumber(lua, take_float(from, size));
    } else if (what->option == 'c' || what->option == 's') {
        size = push_string(from, what);
        hf__machine_spend(lua, from->format.machine, size / 4);
    } else {
        if (what->option != 'x')
            set_option(&from->format, what->option);
        return size;
    }
    from->count++;
    return size;
}

static int struct_unpack(lua_State *lua)
{
    struct_reader from = {.format = open_format(lua)};
    lua_Integer first = luaL_optinteger(lua, 3, 1);
    element what;

    from.data = luaL_checklstring(lua, 2, &from.size);
    luaL_argcheck(lua, first > 0, 3, "offset must be 1 or greater");
    from.position = (size_t)first - 1;
    while (next_element(&from.format, from.position, &what)) {
        from.position += what.padding;
        check_room(&from, what.size);
        luaL_checkstack(lua, 2, "too many results");
        from.position += take_element(&from, &what);
    }
    lua_pushinteger(lua, (lua_Integer)from.position + 1);
    return from.count + 1;
}

static int size_of(lua_State *lua)
{
    format from = open_format(lua);
    size_t position = 0;
    element what;

    while (next_element(&from, position, &what)) {
        if (what.option == 's')
            luaL_argerror(lua, 1, "option 's' has no fixed size");
        if (what.option == 'c' && what.size == 0)
            luaL_argerror(lua, 1, "option 'c0' has no fixed size");
        if (!isalnum((unsigned char)what.option))
            set_option(&from, what.option);
        position += what.padding + what.size;
    }
    lua_pushinteger(lua, (lua_Integer)position);
    return 1;
}

static const luaL_Reg functions[] = {{"pack", struct_pack},
                                     {"unpack", struct_unpack},
                                     {"size", size_of},
                                     {NULL, NULL}};

void hf__struct_push(lua_State *lua)
{
    lua_newtable(lua);
    luaL_register(lua, NULL, functions);
}
