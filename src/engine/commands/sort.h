/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - the options of SORT, and the sorted members.
 */
#ifndef HF__ENGINE_COMMANDS_SORT_H
#define HF__ENGINE_COMMANDS_SORT_H

#include "engine/keys/packed.h"

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

/* In scratch: the members, their weights, their indexes twice, and the texts of
 * weights. */
typedef struct hf__sorting {
    hf__sort_options what;
    hf__packed_buf buf; /* size of scratch used */
    size_t count;       /* of members */
    size_t weights;     /* offsets in scratch */
    size_t first;       /* those within LIMIT */
    size_t wanted;
    bool not_number; /* a weight is not a number */
} hf__sorting;

/* Read and sort the members of a list, set or sorted set; NULL: no key. false:
 * fatal, or replied with an error. */
bool hf__sort_arrange(hf__sorting *all, hf__record *record);
/* The n-th member within LIMIT. */
hf_bytes hf__sort_member(const hf__sorting *all, size_t number);

#endif
