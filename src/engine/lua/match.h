/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - the patterns of Lua 5.1.
 */
#ifndef HF__ENGINE_MATCH_H
#define HF__ENGINE_MATCH_H

#include "engine/lua/machine_state.h"

#define HF__MATCH_CAPTURES 32

/* Special sizes of captures. */
enum { HF__MATCH_OPEN = -1, HF__MATCH_POSITION = -2 };

typedef struct hf__match {
    lua_State *lua;
    hf__machine *machine;
    const char *text, *text_end;
    bool has_ways; /* alternatives */
    int level;     /* open and closed captures */
    struct {
        const char *at;
        ptrdiff_t size;
    } captures[HF__MATCH_CAPTURES];
} hf__match;

void hf__match_init(hf__match *match, lua_State *lua, const char *text,
                    size_t size);
/* The end of a match of the NUL-terminated pattern at `at`; NULL: no match. The
 * text is followed by a NUL, like all strings of Lua. Raises errors. */
const char *hf__match_at(hf__match *match, const char *at, const char *pattern);

/* Push a capture; without any, number 0 is the whole match. */
void hf__match_push(hf__match *match, int number, const char *from,
                    const char *to);
/* Push all and return their number; `from` NULL: not the whole match. */
int hf__match_push_all(hf__match *match, const char *from, const char *to);

#endif
