/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_decode.c - cjson.decode().
 *
 * Like all strings of Lua the text is followed by a NUL, and it ends at the
 * first one; so reading the byte after one that is not NUL is always allowed.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/lua/cjson.h"
#include "engine/lua/machine_state.h"

/* Cost of a token, ns, in addition to its bytes. */
#define TOKEN_NS 60u

typedef enum kind {
    OBJECT_BEGIN,
    OBJECT_END,
    ARRAY_BEGIN,
    ARRAY_END,
    STRING,
    NUMBER,
    BOOLEAN,
    NOTHING,
    COLON,
    COMMA,
    END,
    ERROR
} kind;

typedef struct json_reader {
    lua_State *lua;
    hf__machine *machine;
    const hf__json *settings;
    const char *text;
    const char *at;
    int depth;
    struct {
        kind what;
        const char *from;
        union {
            double number;
            bool yes;
            const char *why; /* of an error */
            hf_bytes string; /* in the text or in the machine's buffer */
        } is;
    } token;
} json_reader;

static void fail_token(json_reader *from, const char *why)
{
    from->token.what = ERROR;
    from->token.from = from->at;
    from->token.is.why = why;
}

static int fail_expected(const json_reader *from, const char *expected)
{
    static const char *const names[] = {
        "T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END",
        "T_STRING",    "T_NUMBER",  "T_BOOLEAN",   "T_NULL",
        "T_COLON",     "T_COMMA",   "T_END"};

    return luaL_error(from->lua, "Expected %s but found %s at character %d",
                      expected,
                      from->token.what == ERROR ? from->token.is.why
                                                : names[from->token.what],
                      (int)(from->token.from - from->text + 1));
}

/* ----------------------------------------------------------------- strings */

/* Four hexadecimal digits; negative: invalid. */
static int32_t read_hex(const char *at)
{
    int32_t sum = 0;

    for (int i = 0; i < 4; i++) {
        char letter = at[i];

        if (letter >= '0' && letter <= '9')
            sum = 16 * sum + letter - '0';
        else if ((letter | 32) >= 'a' && (letter | 32) <= 'f')
            sum = 16 * sum + (letter | 32) - 'a' + 10;
        else
            return -1; /* do not read beyond a NUL */
    }
    return sum;
}

static void put_utf8(const json_reader *from, int32_t letter)
{
    char text[4];
    size_t size = letter < 0x80      ? 1
                  : letter < 0x800   ? 2
                  : letter < 0x10000 ? 3
                                     : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = size; i-- > 1; letter >>= 6)
        text[i] = (char)(0x80 | (letter & 0x3f));
    text[0] = (char)(marks[size] | letter);
    hf__lua_buf_add(from->lua, from->machine, text, size);
}

/* "\uXXXX", or a surrogate pair. */
static bool read_unicode(json_reader *from)
{
    int32_t letter = read_hex(from->at + 2);
    int32_t low;

    if (letter < 0)
        return false;
    from->at += 6;
    if ((letter & 0xf800) == 0xd800) {
        if ((letter & 0x400) != 0 || from->at[0] != '\\' || from->at[1] != 'u')
            low = -1;
        else
            low = read_hex(from->at + 2);
        if (low < 0 || (low & 0xfc00) != 0xdc00) {
            from->at -= 6;
            return false;
        }
        letter = (((letter & 0x3ff) << 10) | (low & 0x3ff)) + 0x10000;
        from->at += 6;
    }
    put_utf8(from, letter);
    return true;
}

/* The character after a backslash. */
static bool read_escape(json_reader *from)
{
    static const char named[] = "\"\"\\\\//b\bt\tn\nf\fr\r";
    char letter = from->at[1];

    if (letter == 'u') {
        if (read_unicode(from))
            return true;
        fail_token(from, "invalid unicode escape code");
        return false;
    }
    for (const char *at = named; *at != '\0'; at += 2) {
        if (letter == at[0]) {
            hf__lua_buf_byte(from->lua, from->machine, at[1]);
            from->at += 2;
            return true;
        }
    }
    fail_token(from, "invalid escape code");
    return false;
}

/* Skip plain characters. */
static hf_bytes read_span(json_reader *from)
{
    const char *begin = from->at;

    while (*from->at != '"' && *from->at != '\\' && *from->at != '\0')
        from->at++;
    hf__machine_spend(from->lua, from->machine,
                      20 + (size_t)(from->at - begin));
    return hf_view(begin, (size_t)(from->at - begin));
}

static void read_string(json_reader *from)
{
    hf_bytes span;

    from->at++;
    span = read_span(from);
    if (*from->at != '"') {
        from->machine->bufs->used = 0;
        hf__lua_buf_add(from->lua, from->machine, span.data, span.size);
        while (*from->at == '\\') {
            if (!read_escape(from))
                return;
            span = read_span(from);
            hf__lua_buf_add(from->lua, from->machine, span.data, span.size);
        }
        span = hf_view(from->machine->bufs->data, from->machine->bufs->used);
    }
    if (*from->at == '\0') {
        fail_token(from, "unexpected end of string");
        return;
    }
    from->at++;
    from->token.what = STRING;
    from->token.is.string = span;
}

/* ----------------------------------------------------------------- numbers */

/* A number that JSON does not have: hexadecimal, with a leading zero or plus,
 * infinite, or NaN. */
static bool is_foreign(const char *at)
{
    if (*at == '+')
        return true;
    if (*at == '-')
        at++;
    if (*at == '0')
        return (at[1] | 32) == 'x' || (at[1] >= '0' && at[1] <= '9');
    if (*at <= '9')
        return false;
    return strncasecmp(at, "inf", 3) == 0 || strncasecmp(at, "nan", 3) == 0;
}

static void read_number(json_reader *from)
{
    char *end;

    from->token.is.number = strtod(from->at, &end);
    if (end == from->at) {
        fail_token(from, "invalid number");
        return;
    }
    hf__machine_spend(from->lua, from->machine, 2 * (size_t)(end - from->at));
    from->token.what = NUMBER;
    from->at = end;
}

/* ------------------------------------------------------------------ tokens */

static bool read_word(json_reader *from, const char *word, kind what)
{
    size_t size = strlen(word);

    if (strncmp(from->at, word, size) != 0)
        return false;
    from->token.what = what;
    from->token.is.yes = word[0] == 't';
    from->at += size;
    return true;
}

static bool read_sign(json_reader *from)
{
    static const char signs[] = "{}[]:,";
    static const kind kinds[] = {OBJECT_BEGIN, OBJECT_END, ARRAY_BEGIN,
                                 ARRAY_END,    COLON,      COMMA};
    const char *sign = strchr(signs, *from->at);

    if (sign == NULL)
        return false;
    from->token.what = kinds[sign - signs];
    from->at++;
    return true;
}

static void skip_blanks(json_reader *from)
{
    const char *begin = from->at;

    from->at += strspn(from->at, " \t\n\r");
    hf__machine_spend(from->lua, from->machine,
                      TOKEN_NS + (size_t)(from->at - begin));
    from->token.from = from->at;
}

static void next_token(json_reader *from)
{
    char first;

    skip_blanks(from);
    first = *from->at;
    if (first == '\0') {
        from->token.what = END;
    } else if (read_sign(from)) {
        return;
    } else if (first == '"') {
        read_string(from);
    } else if (first == '-' || (first >= '0' && first <= '9')) {
        if (!from->settings->decode_numbers && is_foreign(from->at))
            fail_token(from, "invalid number");
        else
            read_number(from);
    } else if (!read_word(from, "true", BOOLEAN) &&
               !read_word(from, "false", BOOLEAN) &&
               !read_word(from, "null", NOTHING)) {
        if (from->settings->decode_numbers && is_foreign(from->at))
            read_number(from);
        else
            fail_token(from, "invalid token");
    }
}

/* ------------------------------------------------------------------ values */

static void push_value(json_reader *from);

static void enter_level(json_reader *from)
{
    from->depth++;
    if (from->depth > from->settings->decode_depth ||
        from->depth > HF__JSON_DEPTH_MAX || !lua_checkstack(from->lua, 8))
        luaL_error(from->lua,
                   "Found too many nested data structures (%d) at character %d",
                   from->depth, (int)(from->at - from->text));
}

static void push_object(json_reader *from)
{
    enter_level(from);
    lua_newtable(from->lua);
    next_token(from);
    while (from->token.what != OBJECT_END) {
        if (from->token.what != STRING)
            (void)fail_expected(from, "object key string");
        push_value(from);
        next_token(from);
        if (from->token.what != COLON)
            (void)fail_expected(from, "colon");
        next_token(from);
        push_value(from);
        lua_rawset(from->lua, -3);
        next_token(from);
        if (from->token.what == OBJECT_END)
            break;
        if (from->token.what != COMMA)
            (void)fail_expected(from, "comma or object end");
        next_token(from);
        if (from->token.what == OBJECT_END)
            (void)fail_expected(from, "object key string");
    }
    from->depth--;
}

static void push_array(json_reader *from)
{
    enter_level(from);
    lua_newtable(from->lua);
    next_token(from);
    for (int i = 1; from->token.what != ARRAY_END; i++) {
        push_value(from);
        lua_rawseti(from->lua, -2, i);
        next_token(from);
        if (from->token.what == ARRAY_END)
            break;
        if (from->token.what != COMMA)
            (void)fail_expected(from, "comma or array end");
        next_token(from);
        if (from->token.what == ARRAY_END)
            (void)fail_expected(from, "value");
    }
    from->depth--;
}

/* The value that begins with the token. */
static void push_value(json_reader *from)
{
    switch (from->token.what) {
    case STRING:
        lua_pushlstring(from->lua, from->token.is.string.data,
                        from->token.is.string.size);
        break;
    case NUMBER:
        lua_pushnumber(from->lua, from->token.is.number);
        break;
    case BOOLEAN:
        lua_pushboolean(from->lua, from->token.is.yes);
        break;
    case NOTHING:
        lua_pushlightuserdata(from->lua, NULL);
        break;
    case OBJECT_BEGIN:
        push_object(from);
        break;
    case ARRAY_BEGIN:
        push_array(from);
        break;
    default:
        (void)fail_expected(from, "value");
    }
}

int hf__json_decode(lua_State *lua)
{
    json_reader from = {.lua = lua,
                        .machine = hf__machine_of(lua),
                        .settings = lua_touserdata(lua, lua_upvalueindex(1))};
    size_t size;

    luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
    from.text = luaL_checklstring(lua, 1, &size);
    from.at = from.text;
    if (size >= 2 && (from.text[0] == '\0' || from.text[1] == '\0'))
        luaL_error(lua, "JSON parser does not support UTF-16 or UTF-32");
    hf__lua_buf_open(lua, from.machine);
    next_token(&from);
    push_value(&from);
    next_token(&from);
    if (from.token.what != END)
        (void)fail_expected(&from, "the end");
    hf__lua_buf_close(from.machine);
    return 1;
}
