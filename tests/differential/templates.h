/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates.h - pieces of Lua. In one
 *
 *   $n $s $t $b   is an expression that is a number, text, table, boolean
 *   $a            any expression
 *   $c            the words of a command for redis.call()
 *   $v            a variable      $k  a key      $g  an argument
 *   $i            a small integer                  $l  a library
 *   NAME          a global name that may exist
 */
#ifndef TESTS_DIFFERENTIAL_TEMPLATES_H
#define TESTS_DIFFERENTIAL_TEMPLATES_H

#include <stddef.h>

typedef struct template_list {
    const char *const *items;
    size_t count;
} template_list;

typedef struct template_kind {
    char letter;
    template_list leaves; /* without further expressions */
    template_list nested;
} template_kind;

extern const template_kind template_kinds[];
extern const size_t template_kind_count;

extern const template_list template_statements;
extern const template_list template_ends;
extern const template_list template_names;

/* The lines that every script begins with. */
extern const char *const template_prologue;

#endif
