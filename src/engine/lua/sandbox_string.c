/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_string.c - functions of `string` that process or create strings of
 * any size: these check the clock and keep nothing on the C stack.
 */
#include <ctype.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

#include "engine/lua/machine_state.h"

/* Bytes between two checks. */
#define PIECE_SIZE (size_t)(64u << 10)

static int safe_rep(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    size_t size, piece;
    const char *text = luaL_checklstring(lua, 1, &size);
    int count = luaL_checkint(lua, 2);

    if (count <= 0 || size == 0) {
        lua_pushliteral(lua, "");
        return 1;
    }
    if (size > (size_t)INT32_MAX / (size_t)count)
        return luaL_error(lua, "the string is too long");
    hf__lua_buf_open(lua, machine);
    (void)hf__lua_buf_room(lua, machine, size * (size_t)count);
    hf__lua_buf_add(lua, machine, text, size);
    for (size_t left = size * (size_t)count - size; left > 0; left -= piece) {
        piece = machine->bufs->used < left ? machine->bufs->used : left;
        if (piece > PIECE_SIZE)
            piece = PIECE_SIZE - PIECE_SIZE % size;
        if (piece == 0)
            piece = size;
        hf__machine_spend(lua, machine, piece / 4);
        hf__lua_buf_add(lua, machine, machine->bufs->data, piece);
    }
    hf__lua_buf_push(lua, machine);
    return 1;
}

static int change_case(lua_State *lua, int (*of)(int))
{
    hf__machine *machine = hf__machine_of(lua);
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    char *to;

    hf__lua_buf_open(lua, machine);
    to = hf__lua_buf_room(lua, machine, size);
    for (size_t i = 0; i < size; i++) {
        if (i % PIECE_SIZE == 0)
            hf__machine_spend(lua, machine, PIECE_SIZE);
        to[i] = (char)of((unsigned char)text[i]);
    }
    machine->bufs->used = size;
    hf__lua_buf_push(lua, machine);
    return 1;
}

static int safe_lower(lua_State *lua)
{
    return change_case(lua, tolower);
}

static int safe_upper(lua_State *lua)
{
    return change_case(lua, toupper);
}

static int safe_reverse(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    char *to;

    hf__lua_buf_open(lua, machine);
    to = hf__lua_buf_room(lua, machine, size);
    for (size_t i = 0; i < size; i++) {
        if (i % PIECE_SIZE == 0)
            hf__machine_spend(lua, machine, PIECE_SIZE);
        to[i] = text[size - 1 - i];
    }
    machine->bufs->used = size;
    hf__lua_buf_push(lua, machine);
    return 1;
}

/* ----------------------------------------------------------------- format */

#define FLAGS "-+ #0"
#define FLAG_MAX 5u
/* '%', flags, width, point, precision, "ll", letter, NUL. */
#define FORM_SIZE (FLAG_MAX + 12u)
/* The longest number: %99.99f of -1e308. */
#define ITEM_SIZE 512u
/* Strings that Lua passes to printf(); longer ones, without a precision, are
 * copied. */
#define SHORT_TEXT 100u

/* Copy flags, width and precision to `form`; returns the letter's position. */
static const char *read_form(lua_State *lua, const char *from,
                             char form[FORM_SIZE])
{
    const char *at = from + strspn(from, FLAGS);
    size_t size;

    if ((size_t)(at - from) > FLAG_MAX)
        luaL_error(lua, "invalid format (repeated flags)");
    for (int i = 0; i < 2 && isdigit((unsigned char)*at); i++)
        at++;
    if (*at == '.') {
        at++;
        for (int i = 0; i < 2 && isdigit((unsigned char)*at); i++)
            at++;
    }
    if (isdigit((unsigned char)*at))
        luaL_error(lua, "invalid format (width or precision too long)");
    size = (size_t)(at - from);
    form[0] = '%';
    memcpy(form + 1, from, size);
    form[size + 1] = '\0';
    return at;
}

static long long to_signed(lua_Number number)
{
    /* Undefined in C; this is Redis's result on x86-64. */
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0))
        return INT64_MIN;
    return (long long)number;
}

static unsigned long long to_unsigned(lua_Number number)
{
    if (!(number >= 9223372036854775808.0))
        return (unsigned long long)to_signed(number);
    return (unsigned long long)to_signed(number - 9223372036854775808.0) ^
           1ull << 63;
}

static void end_form(char form[FORM_SIZE], const char *length, char letter)
{
    size_t size = strlen(form);

    (void)snprintf(form + size, FORM_SIZE - size, "%s%c", length, letter);
}

static void add_number(lua_State *lua, hf__machine *machine,
                       char form[FORM_SIZE], char letter, int arg)
{
    lua_Number number = luaL_checknumber(lua, arg);
    char *item = hf__lua_buf_room(lua, machine, ITEM_SIZE);

    end_form(form, strchr("diouxX", letter) != NULL ? "ll" : "", letter);
    if (letter == 'c')
        (void)snprintf(item, ITEM_SIZE, form, (int)to_signed(number));
    else if (letter == 'd' || letter == 'i')
        (void)snprintf(item, ITEM_SIZE, form, to_signed(number));
    else if (strchr("ouxX", letter) != NULL)
        (void)snprintf(item, ITEM_SIZE, form, to_unsigned(number));
    else
        (void)snprintf(item, ITEM_SIZE, form, number);
    /* A "%c" of 0 adds nothing, as in Lua. */
    machine->bufs->used += strlen(item);
}

static void add_text(lua_State *lua, hf__machine *machine, char form[FORM_SIZE],
                     int arg)
{
    size_t size;
    const char *text = luaL_checklstring(lua, arg, &size);
    char *item;

    if (size >= SHORT_TEXT && strchr(form, '.') == NULL) {
        hf__machine_spend(lua, machine, size / 4);
        hf__lua_buf_add(lua, machine, text, size);
        return;
    }
    item = hf__lua_buf_room(lua, machine, ITEM_SIZE);
    end_form(form, "", 's');
    (void)snprintf(item, ITEM_SIZE, form, text);
    machine->bufs->used += strlen(item);
}

static void add_quoted(lua_State *lua, hf__machine *machine, int arg)
{
    size_t size;
    const char *text = luaL_checklstring(lua, arg, &size);

    hf__lua_buf_byte(lua, machine, '"');
    for (size_t i = 0; i < size; i++) {
        if (i % PIECE_SIZE == 0)
            hf__machine_spend(lua, machine, 2 * PIECE_SIZE);
        if (text[i] == '"' || text[i] == '\\' || text[i] == '\n')
            hf__lua_buf_byte(lua, machine, '\\');
        if (text[i] == '\r')
            hf__lua_buf_add(lua, machine, "\\r", 2);
        else if (text[i] == '\0')
            hf__lua_buf_add(lua, machine, "\\000", 4);
        else
            hf__lua_buf_byte(lua, machine, text[i]);
    }
    hf__lua_buf_byte(lua, machine, '"');
}

/* One conversion; `from` is after its '%'. Returns its end. */
static const char *add_item(lua_State *lua, hf__machine *machine,
                            const char *from, int arg)
{
    char form[FORM_SIZE];
    const char *at;

    if (arg > lua_gettop(lua))
        luaL_argerror(lua, arg, "no value");
    at = read_form(lua, from, form);
    if (*at == 'q')
        add_quoted(lua, machine, arg);
    else if (*at == 's')
        add_text(lua, machine, form, arg);
    else if (*at != '\0' && strchr("cdiouxXeEfgG", *at) != NULL)
        add_number(lua, machine, form, *at, arg);
    else
        luaL_error(lua, "invalid option '%%%c' to 'format'", *at);
    return at + 1;
}

static int safe_format(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    size_t size;
    const char *at = luaL_checklstring(lua, 1, &size);
    const char *end = at + size;
    int arg = 1;

    hf__lua_buf_open(lua, machine);
    while (at < end) {
        const char *next = memchr(at, '%', (size_t)(end - at));

        if (next == NULL)
            next = end;
        hf__machine_spend(lua, machine, 50 + (size_t)(next - at) / 4);
        hf__lua_buf_add(lua, machine, at, (size_t)(next - at));
        if (next == end)
            break;
        at = next + 1;
        if (*at == '%')
            hf__lua_buf_byte(lua, machine, *at++);
        else
            at = add_item(lua, machine, at, ++arg);
    }
    hf__lua_buf_push(lua, machine);
    return 1;
}

static const luaL_Reg functions[] = {
    {"rep", safe_rep},         {"lower", safe_lower},   {"upper", safe_upper},
    {"reverse", safe_reverse}, {"format", safe_format}, {NULL, NULL}};

void hf__sandbox_string(lua_State *lua)
{
    hf__sandbox_replace(lua, LUA_STRLIBNAME, functions);
}
