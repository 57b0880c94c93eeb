/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_model.h - what each thread of the workload does, and what the store
 * must hold after any number of its operations.
 *
 * Operation `number` of a thread follows from the seed and from the state that
 * the operations before it left, so a reader of the store that knows how many
 * were acknowledged knows every byte that must be there.
 */
#ifndef TESTS_FAULT_POWER_CUT_MODEL_H
#define TESTS_FAULT_POWER_CUT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_THREAD_MAX 16u
#define MODEL_VALUES 6u
#define MODEL_FIELDS 40u
#define MODEL_MEMBERS 30u
#define MODEL_ACCOUNTS 8u
/* Longest value, bytes. */
#define MODEL_SIZE_MAX 400000u

typedef enum op_kind {
    OP_SET, /* a value */
    OP_DELETE,
    OP_BIG, /* a large value: pages of its own */
    OP_BIG_DELETE,
    OP_FIELDS, /* three fields of a hash */
    OP_FIELD_REMOVE,
    OP_HASH_DELETE,
    OP_PUSH, /* on a list */
    OP_POP,
    OP_LIST_DELETE,
    OP_SCORE, /* of a member of a sorted set */
    OP_UNSCORE,
    OP_MEMBER,    /* add to a set, or remove from it */
    OP_LOCK,      /* acquire if it is free, otherwise release */
    OP_MOVE,      /* from one account to another, by a script */
    OP_TEMPORARY, /* a key that expires at once */
    OP_KIND_COUNT
} op_kind;

typedef struct op {
    op_kind kind;
    uint64_t number; /* from 1 */
    size_t at;       /* which value, field, member or account */
    size_t to;       /* the other account; how many to push */
} op;

/* Numbers of the operations that wrote something; 0: it does not exist. */
typedef struct model {
    uint64_t seed;
    unsigned thread;
    uint64_t count; /* operations applied */
    uint64_t values[MODEL_VALUES];
    uint64_t big;
    uint64_t fields[MODEL_FIELDS];
    uint64_t list_first; /* items are list_first..list_end - 1 */
    uint64_t list_end;
    uint64_t scores[MODEL_MEMBERS];
    bool members[MODEL_MEMBERS];
    bool locked;
    uint64_t moves;
} model;

void model_init(model *self, uint64_t seed, unsigned thread);
op model_next(const model *self);
void model_apply(model *self, const op *next);

/* The bytes that operation `number` writes; returns the size of what is put
 * into `bytes`, which has room for MODEL_SIZE_MAX. */
size_t model_bytes(const model *self, uint64_t number, size_t at, bool big,
                   unsigned char *bytes);

#endif
