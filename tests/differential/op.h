/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - the operations of a round, the unit that is compared and shrunk.
 *
 * A request is what is sent at once: one operation, or neighbours of the kind
 * OP_BATCH with the same batch number, which one script runs. So a batch
 * shrinks like everything else: by leaving operations out.
 */
#ifndef TESTS_DIFFERENTIAL_OP_H
#define TESTS_DIFFERENTIAL_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/base.h"
#include "util/arena.h"

typedef enum op_kind {
    OP_PLAIN,    /* words are a command, sent as such */
    OP_CALL,     /* ... in a script, by redis.call */
    OP_BATCH,    /* ... in a script with its neighbours, by redis.pcall */
    OP_SCRIPT,   /* words are keys and arguments of `source` */
    OP_EXCHANGE, /* the value of a key with that of the other side, by DUMP */
    OP_WAIT      /* until short expiries are over; not sent */
} op_kind;

typedef struct op {
    op_kind kind;
    uint32_t batch;
    hf_bytes *words;
    size_t word_count;
    size_t key_count;
    const char *source;
    bool brief; /* gives a key an expiry that ends soon; OP_WAIT follows */
} op;

typedef struct op_list {
    op *ops;
    size_t count;
    size_t capacity;
    hf__arena *arena; /* owns all that the operations point to */
} op_list;

/* Running out of memory ends the program, here and below. */
void *op_alloc(hf__arena *arena, size_t size);
hf_bytes op_copy(hf__arena *arena, const void *data, size_t size);

void op_list_init(op_list *list, hf__arena *arena);
void op_list_add(op_list *list, op added);

/* How many operations, from `at` on, make one request. */
size_t op_request_size(const op_list *list, size_t at);

/* A new array of words: the old ones and `added`; for building commands. */
void op_add_word(op *command, hf__arena *arena, hf_bytes added);

#endif
