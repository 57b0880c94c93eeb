/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - the patterns of Lua 5.1.
 */
#ifndef HF__EMBEDDED_MATCH_H
#define HF__EMBEDDED_MATCH_H

#include "store/embedded/lua/machine_state.h"

#define HF__MATCH_CAPTURES 32

/* Sizes of captures that are not texts. */
enum { HF__MATCH_OPEN = -1, HF__MATCH_POSITION = -2 };

typedef struct hf__match {
    lua_State *lua;
    hf__machine *machine;
    const char *text, *text_end;
    bool has_ways; /* others are to be tried */
    int level;     /* captures begun */
    struct {
        const char *at;
        ptrdiff_t size;
    } captures[HF__MATCH_CAPTURES];
} hf__match;

void hf__match_init(hf__match *match, lua_State *lua, const char *text,
                    size_t size);
/* Where the pattern, which ends with a NUL, ends if it begins at `at`; NULL: it
 * does not match. The text is followed by a NUL, as all strings of Lua. Raises
 * errors. */
const char *hf__match_at(hf__match *match, const char *at, const char *pattern);

/* Push a capture; without any, number 0 is the whole match. */
void hf__match_push(hf__match *match, int number, const char *from,
                    const char *to);
/* Push all and return how many; `from` NULL: no whole match. */
int hf__match_push_all(hf__match *match, const char *from, const char *to);

#endif
