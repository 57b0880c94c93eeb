/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pop.h - taking elements from the first of several keys that exists, at either
 * end: what lists and sorted sets share.
 */
#ifndef HF__ENGINE_POP_H
#define HF__ENGINE_POP_H

#include "engine/commands/command_row.h"

/* The variant of a command that pops from the end. */
#define HF__POP_LAST HF__VARIANT(1)

static inline bool hf__pops_last(const hf__tx *tx)
{
    return (tx->command->flags & HF__POP_LAST) != 0;
}

typedef struct hf__pop_kind {
    hf__type type;
    const char *first, *last; /* the words for the ends */
    /* Take up to `count` elements, and reply with the key and them. Of a count
     * of 0: one, in the form of a command that has no count. */
    void (*pop)(hf__tx *tx, hf_bytes key, hf__record *record, bool last,
                int64_t count);
} hf__pop_kind;

/* LMPOP, ZMPOP: `[timeout] numkeys key ... END [COUNT count]`, with a timeout
 * if the command blocks. */
void hf__pop_counted(hf__tx *tx, const hf_bytes *args, size_t count,
                     const hf__pop_kind *kind);
/* BLPOP, BZPOPMIN: `key ... timeout`. */
void hf__pop_blocking(hf__tx *tx, const hf_bytes *args, size_t count,
                      const hf__pop_kind *kind);

#endif
