/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - the patterns of Lua 5.1, with its results, messages and quirks (a
 * NUL ends a pattern).
 *
 * Lua's own matcher recurses for each item of a pattern and each character of
 * an optional one, without a limit, so that a script can overflow the C stack;
 * and it cannot be interrupted. Here the alternatives still to be tried are a
 * stack in memory that counts against the script's limit, and every step counts
 * against its time.
 *
 * A "way" is an alternative to take when everything tried after it has failed.
 */
#include "engine/lua/match.h"

#include <ctype.h>
#include <string.h>

#define ESCAPE '%'

/* Cost of a step, ns; a character of a set costs 1 ns. */
#define STEP_NS 8u

typedef enum way_kind {
    SKIP,   /* the optional item is left out */
    FEWER,  /* one repetition fewer */
    MORE,   /* one repetition more */
    REOPEN, /* the capture has not ended */
    UNOPEN  /* the capture has not begun */
} way_kind;

typedef struct way {
    way_kind kind;
    int capture;
    size_t count;        /* repetitions that can be given back */
    const char *at;      /* in the text */
    const char *pattern; /* the pattern after the item; of MORE: the item */
} way;

void hf__match_init(hf__match *match, lua_State *lua, const char *text,
                    size_t size)
{
    match->lua = lua;
    match->machine = hf__machine_of(lua);
    match->text = text;
    match->text_end = text + size;
    match->level = 0;
    match->has_ways = false;
}

/* ---------------------------------------------------------------- classes */

static bool is_in_class(unsigned char letter, unsigned char name)
{
    int found;

    switch (tolower(name)) {
    case 'a':
        found = isalpha(letter);
        break;
    case 'c':
        found = iscntrl(letter);
        break;
    case 'd':
        found = isdigit(letter);
        break;
    case 'l':
        found = islower(letter);
        break;
    case 'p':
        found = ispunct(letter);
        break;
    case 's':
        found = isspace(letter);
        break;
    case 'u':
        found = isupper(letter);
        break;
    case 'w':
        found = isalnum(letter);
        break;
    case 'x':
        found = isxdigit(letter);
        break;
    case 'z':
        found = letter == 0;
        break;
    default:
        return name == letter;
    }
    return islower(name) ? found != 0 : found == 0;
}

/* `set` is at its '[', `last` at its ']'. */
static bool is_in_set(unsigned char letter, const char *set, const char *last)
{
    bool wanted = true;

    if (*++set == '^') {
        wanted = false;
        set++;
    }
    for (; set < last; set++) {
        if (*set == ESCAPE) {
            if (is_in_class(letter, (unsigned char)*++set))
                return wanted;
        } else if (set[1] == '-' && set + 2 < last) {
            if ((unsigned char)set[0] <= letter &&
                letter <= (unsigned char)set[2])
                return wanted;
            set += 2;
        } else if ((unsigned char)*set == letter) {
            return wanted;
        }
    }
    return !wanted;
}

/* The end of the item that begins at `item`. */
static const char *end_of_item(hf__match *match, const char *item)
{
    const char *at = item + 1;

    if (*item == ESCAPE) {
        if (*at == '\0')
            luaL_error(match->lua, "malformed pattern (ends with '%%')");
        return at + 1;
    }
    if (*item != '[')
        return at;
    if (*at == '^')
        at++;
    do { /* a ']' that comes first is a character */
        if (*at == '\0')
            luaL_error(match->lua, "malformed pattern (missing ']')");
        if (*at++ == ESCAPE && *at != '\0')
            at++;
    } while (*at != ']');
    return at + 1;
}

/* Does the character at `at` match the item? */
static bool is_item(hf__match *match, const char *at, const char *item,
                    const char *end)
{
    unsigned char letter = (unsigned char)*at;

    hf__machine_spend(match->lua, match->machine,
                      STEP_NS + (size_t)(end - item));
    if (at >= match->text_end)
        return false;
    switch (*item) {
    case '.':
        return true;
    case ESCAPE:
        return is_in_class(letter, (unsigned char)item[1]);
    case '[':
        return is_in_set(letter, item, end - 1);
    default:
        return (unsigned char)*item == letter;
    }
}

/* --------------------------------------------------------------- captures */

static int open_capture(hf__match *match)
{
    int number = match->level;

    while (number-- > 0) {
        if (match->captures[number].size == HF__MATCH_OPEN)
            return number;
    }
    return luaL_error(match->lua, "invalid pattern capture");
}

/* Match a capture's text again at `at`; NULL: no match. */
static const char *match_again(hf__match *match, const char *at, char digit)
{
    int number = digit - '1';
    ptrdiff_t size;

    if (number < 0 || number >= match->level ||
        match->captures[number].size == HF__MATCH_OPEN)
        luaL_error(match->lua, "invalid capture index");
    size = match->captures[number].size;
    if (size < 0 || match->text_end - at < size)
        return NULL;
    hf__machine_spend(match->lua, match->machine, (size_t)size / 8);
    if (memcmp(match->captures[number].at, at, (size_t)size) != 0)
        return NULL;
    return at + size;
}

/* The end of a balanced text between pair[0] and pair[1]. */
static const char *match_balance(hf__match *match, const char *at,
                                 const char *pair)
{
    const char *from = at;
    int depth = 1;

    if (pair[0] == '\0' || pair[1] == '\0')
        luaL_error(match->lua, "unbalanced pattern");
    if (*at != pair[0] || at == match->text_end)
        return NULL;
    while (++at < match->text_end) {
        if (*at == pair[1]) {
            if (--depth == 0)
                break;
        } else if (*at == pair[0]) {
            depth++;
        }
    }
    hf__machine_spend(match->lua, match->machine, (size_t)(at - from));
    return at < match->text_end ? at + 1 : NULL;
}

/* ------------------------------------------------------------------- ways */

static way *add_way(hf__match *match, way_kind kind, const char *at,
                    const char *pattern)
{
    way *new;

    if (!match->has_ways)
        hf__lua_buf_open(match->lua, match->machine);
    match->has_ways = true;
    new = (way *)(void *)hf__lua_buf_room(match->lua, match->machine,
                                          sizeof(*new));
    *new = (way){.kind = kind, .at = at, .pattern = pattern};
    match->machine->bufs->used += sizeof(*new);
    return new;
}

/* Take the newest way. */
static bool take_way(hf__match *match, const char **at, const char **pattern)
{
    hf__lua_buf *ways = match->machine->bufs;

    while (match->has_ways && ways->used > 0) {
        way *last = (way *)(void *)(ways->data + ways->used - sizeof(*last));
        const char *end;

        hf__machine_spend(match->lua, match->machine, STEP_NS);
        *at = last->at;
        *pattern = last->pattern;
        switch (last->kind) {
        case SKIP:
            ways->used -= sizeof(*last);
            return true;
        case FEWER:
            *at += --last->count;
            if (last->count == 0)
                ways->used -= sizeof(*last);
            return true;
        case MORE:
            end = end_of_item(match, last->pattern);
            if (is_item(match, last->at, last->pattern, end)) {
                *at = ++last->at;
                *pattern = end + 1;
                return true;
            }
            break;
        case REOPEN:
            match->captures[last->capture].size = HF__MATCH_OPEN;
            break;
        case UNOPEN:
            match->level--;
            break;
        }
        ways->used -= sizeof(*last);
    }
    return false;
}

/* Match as many as possible; false: fewer than `least`. */
static bool repeat_item(hf__match *match, const char **at, const char *item,
                        const char *end, size_t least)
{
    const char *to = *at;
    size_t count;

    while (is_item(match, to, item, end))
        to++;
    count = (size_t)(to - *at);
    if (count < least)
        return false;
    if (count > least)
        add_way(match, FEWER, *at + least, end + 1)->count = count - least;
    *at = to;
    return true;
}

/* An ordinary item with its repetition suffix. */
static bool match_item(hf__match *match, const char **at, const char **pattern)
{
    const char *item = *pattern;
    const char *end = end_of_item(match, item);

    *pattern = end + 1;
    switch (*end) {
    case '?':
        if (is_item(match, *at, item, end))
            add_way(match, SKIP, (*at)++, end + 1);
        return true;
    case '*':
        return repeat_item(match, at, item, end, 0);
    case '+':
        return repeat_item(match, at, item, end, 1);
    case '-':
        (void)add_way(match, MORE, *at, item);
        return true;
    default:
        *pattern = end;
        return is_item(match, (*at)++, item, end);
    }
}

static bool match_open(hf__match *match, const char *at, const char **pattern)
{
    bool position = *++*pattern == ')';

    if (match->level >= HF__MATCH_CAPTURES)
        luaL_error(match->lua, "too many captures");
    if (position)
        ++*pattern;
    match->captures[match->level].at = at;
    match->captures[match->level].size =
        position ? HF__MATCH_POSITION : HF__MATCH_OPEN;
    match->level++;
    (void)add_way(match, UNOPEN, NULL, NULL);
    return true;
}

static bool match_close(hf__match *match, const char *at, const char **pattern)
{
    int number = open_capture(match);

    match->captures[number].size = at - match->captures[number].at;
    add_way(match, REOPEN, NULL, NULL)->capture = number;
    ++*pattern;
    return true;
}

/* %f[set]: the set begins here. */
static bool match_frontier(hf__match *match, const char *at,
                           const char **pattern)
{
    const char *set = *pattern + 2;
    char before = at == match->text ? '\0' : at[-1];

    if (*set != '[')
        luaL_error(match->lua, "missing '[' after '%%f' in pattern");
    *pattern = end_of_item(match, set);
    hf__machine_spend(match->lua, match->machine, (size_t)(*pattern - set));
    return !is_in_set((unsigned char)before, set, *pattern - 1) &&
           is_in_set((unsigned char)*at, set, *pattern - 1);
}

static bool match_escape(hf__match *match, const char **at,
                         const char **pattern)
{
    char name = (*pattern)[1];

    if (name == 'f')
        return match_frontier(match, *at, pattern);
    if (name == 'b') {
        *at = match_balance(match, *at, *pattern + 2);
        *pattern += 4;
        return *at != NULL;
    }
    if (name >= '0' && name <= '9') {
        *at = match_again(match, *at, name);
        *pattern += 2;
        return *at != NULL;
    }
    return match_item(match, at, pattern);
}

/* One item; false: no match, backtrack. */
static bool match_one(hf__match *match, const char **at, const char **pattern)
{
    switch (**pattern) {
    case '(':
        return match_open(match, *at, pattern);
    case ')':
        return match_close(match, *at, pattern);
    case ESCAPE:
        return match_escape(match, at, pattern);
    case '$':
        if ((*pattern)[1] == '\0') {
            ++*pattern;
            return *at == match->text_end;
        }
        return match_item(match, at, pattern);
    default:
        return match_item(match, at, pattern);
    }
}

const char *hf__match_at(hf__match *match, const char *at, const char *pattern)
{
    match->level = 0;
    while (*pattern != '\0') {
        hf__machine_spend(match->lua, match->machine, STEP_NS);
        if (!match_one(match, &at, &pattern) &&
            !take_way(match, &at, &pattern)) {
            at = NULL;
            break;
        }
    }
    if (match->has_ways)
        hf__lua_buf_close(match->machine);
    match->has_ways = false;
    return at;
}

/* ---------------------------------------------------------------- results */

void hf__match_push(hf__match *match, int number, const char *from,
                    const char *to)
{
    if (number >= match->level) {
        if (number != 0)
            luaL_error(match->lua, "invalid capture index");
        lua_pushlstring(match->lua, from, (size_t)(to - from));
        return;
    }
    if (match->captures[number].size == HF__MATCH_OPEN)
        luaL_error(match->lua, "unfinished capture");
    if (match->captures[number].size == HF__MATCH_POSITION)
        lua_pushinteger(match->lua,
                        match->captures[number].at - match->text + 1);
    else
        lua_pushlstring(match->lua, match->captures[number].at,
                        (size_t)match->captures[number].size);
}

int hf__match_push_all(hf__match *match, const char *from, const char *to)
{
    int count = match->level == 0 && from != NULL ? 1 : match->level;

    luaL_checkstack(match->lua, count, "too many captures");
    for (int i = 0; i < count; i++)
        hf__match_push(match, i, from, to);
    return count;
}
