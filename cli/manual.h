/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.h - the words of the help: cli/manual/ as C, by tools/embed_manual.py.
 */
#ifndef HOLDFAST_CLI_MANUAL_H
#define HOLDFAST_CLI_MANUAL_H

#include <stdbool.h>
#include <stddef.h>

/* What people come for; the sections of `holdfast help`. */
enum manual_task {
    MANUAL_LOCKS,
    MANUAL_DATA,
    MANUAL_SERVER,
    MANUAL_MAINTENANCE
};

/* What an operand NAME or KEY of a noun can be completed with. */
enum manual_names { MANUAL_NAMES_NONE, MANUAL_NAMES_LOCKS, MANUAL_NAMES_KEYS };

/* A paragraph that stands for the table of exit codes. */
#define MANUAL_CODES "%codes%"

/* A list of them ends with kind 0. */
struct manual_block {
    char kind;        /* 'p' paragraph, 'i' item, 'h' heading, 'v' as it is */
    const char *term; /* of an item */
    const char *text; /* one line; of 'v' several */
};

struct manual_noun {
    const char *name;
    const char *summary;
    const char *example; /* NULL: that of its first command */
    enum manual_task task;
    enum manual_names names;
};

#define MANUAL_CODES_MAX 12

/* Of one command. */
struct manual_page {
    const char *name;
    const char *summary;
    const char *example;              /* lines; those typed begin with "$ " */
    const struct manual_block *notes; /* NULL: none */
    const char *json; /* members of its objects; NULL: no --json */
    const char *no;   /* what exit code 1 means; NULL: never given */
    /* Exit codes besides those that its options imply, then 0. */
    int codes[MANUAL_CODES_MAX];
    bool servers; /* the example needs a server */
    bool stream;  /* --json prints an object for each of many */
};

struct manual_topic {
    const char *name;
    const char *title;
    const char *example;
    const struct manual_block *text;
};

extern const struct manual_noun manual_nouns[];
extern const size_t manual_noun_count;
extern const struct manual_page manual_pages[];
extern const size_t manual_page_count;
extern const struct manual_topic manual_topics[];
extern const size_t manual_topic_count;

#endif
