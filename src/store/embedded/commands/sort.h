/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - what SORT was asked for, and the members in that order.
 */
#ifndef HF__EMBEDDED_COMMANDS_SORT_H
#define HF__EMBEDDED_COMMANDS_SORT_H

#include "store/embedded/keys/packed.h"

typedef struct hf__sort_options {
    bool unsorted; /* in the order it has, or against it */
    bool backward;
    bool alpha;
    bool has_by;
    bool has_store;
    hf_bytes by;
    hf_bytes store;
    int64_t offset;
    int64_t count; /* negative: all */
    const hf_bytes *args;
    size_t arg_count;
    size_t get_count;
} hf__sort_options;

/* In scratch: the members, their weights, two times their indexes, and the
 * texts of weights. */
typedef struct hf__sorting {
    hf__sort_options what;
    hf__packed_buf buf; /* all that is in scratch */
    size_t count;       /* of members */
    size_t weights;     /* where they are in scratch */
    size_t first;       /* what LIMIT leaves of them */
    size_t wanted;
    bool not_number; /* a weight is none */
} hf__sorting;

/* Read the members of a list, set or sorted set and put them in order; NULL:
 * there is none. false: fatal, or an error that was said. */
bool hf__sort_arrange(hf__sorting *all, hf__record *record);
/* A member of those wanted, by its number. */
hf_bytes hf__sort_member(const hf__sorting *all, size_t number);

#endif
