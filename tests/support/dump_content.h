/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_content.h - what is in a dump, whatever the order in which it was
 * written: two stores with the same keys give equal contents.
 */
#ifndef TESTS_SUPPORT_DUMP_CONTENT_H
#define TESTS_SUPPORT_DUMP_CONTENT_H

#include "support/dump_tape.h"
#include "transfer/dump_reader.h"
#include "util/arena.h"

typedef struct dump_group {
    hf_bytes part[3]; /* an element; or field and value; or and deadline */
} dump_group;

typedef struct dump_key {
    hf_bytes name;
    hf__dump_type type;
    int64_t expires_unix_ms;
    dump_group *groups; /* sorted, but for a list */
    size_t count;
} dump_key;

typedef struct dump_content {
    hf__arena arena;
    dump_key *keys; /* sorted by name */
    size_t count;
} dump_content;

/* Read a whole dump; end it with dump_content_done() whatever the status. */
hf_status dump_content_read(dump_content *content, dump_tape *tape,
                            hf_error *err);
void dump_content_done(dump_content *content);

/* false: `why` names a key and what differs. */
bool dump_content_equal(const dump_content *a, const dump_content *b,
                        hf_error *why);

#endif
