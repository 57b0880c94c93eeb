/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_model.c - the operations of one thread and their effect.
 */
#include "power_cut_model.h"

#include <string.h>

#include "support/prng.h"

#define PUSH_MAX 20u
#define FIELD_STEP 7u

void model_init(model *self, uint64_t seed, unsigned thread)
{
    memset(self, 0, sizeof(*self));
    self->seed = seed;
    self->thread = thread;
}

op model_next(const model *self)
{
    /* Relative frequencies, in the order of op_kind. */
    static const unsigned weights[OP_KIND_COUNT] = {20, 5, 3, 2, 12, 4, 1,  8,
                                                    5,  1, 8, 3, 8,  8, 10, 5};
    prng random = prng_of(self->seed, self->thread, self->count + 1);
    size_t left;
    size_t sum = 0;
    op next = {OP_SET, self->count + 1, 0, 0};

    for (size_t i = 0; i < OP_KIND_COUNT; i++)
        sum += weights[i];
    left = prng_below(&random, sum);
    for (size_t i = 0; left >= weights[i]; i++) {
        left -= weights[i];
        next.kind = (op_kind)(i + 1);
    }
    next.at = prng_below(&random, 1000);
    switch (next.kind) {
    case OP_FIELDS:
    case OP_FIELD_REMOVE:
        next.at %= MODEL_FIELDS;
        break;
    case OP_SCORE:
    case OP_UNSCORE:
    case OP_MEMBER:
        next.at %= MODEL_MEMBERS;
        break;
    case OP_MOVE:
        next.at %= MODEL_ACCOUNTS;
        next.to = prng_below(&random, MODEL_ACCOUNTS);
        break;
    case OP_PUSH:
        next.to = 1 + prng_below(&random, PUSH_MAX);
        break;
    default:
        next.at %= MODEL_VALUES;
    }
    return next;
}

static void apply_hash(model *self, const op *next)
{
    if (next->kind == OP_FIELD_REMOVE)
        self->fields[next->at] = 0;
    else if (next->kind == OP_HASH_DELETE)
        memset(self->fields, 0, sizeof(self->fields));
    else
        for (size_t i = 0; i < 3; i++)
            self->fields[(next->at + i * FIELD_STEP) % MODEL_FIELDS] =
                next->number;
}

static void apply_list(model *self, const op *next)
{
    if (next->kind == OP_PUSH)
        self->list_end += next->to;
    else if (next->kind == OP_LIST_DELETE)
        self->list_first = self->list_end;
    else if (self->list_first < self->list_end)
        self->list_first++;
}

void model_apply(model *self, const op *next)
{
    self->count = next->number;
    switch (next->kind) {
    case OP_SET:
    case OP_DELETE:
        self->values[next->at] = next->kind == OP_SET ? next->number : 0;
        break;
    case OP_BIG:
    case OP_BIG_DELETE:
        self->big = next->kind == OP_BIG ? next->number : 0;
        break;
    case OP_FIELDS:
    case OP_FIELD_REMOVE:
    case OP_HASH_DELETE:
        apply_hash(self, next);
        break;
    case OP_PUSH:
    case OP_POP:
    case OP_LIST_DELETE:
        apply_list(self, next);
        break;
    case OP_SCORE:
    case OP_UNSCORE:
        self->scores[next->at] = next->kind == OP_SCORE ? next->number : 0;
        break;
    case OP_MEMBER:
        self->members[next->at] = !self->members[next->at];
        break;
    case OP_LOCK:
        self->locked = !self->locked;
        break;
    case OP_MOVE:
        self->moves++;
        break;
    default:
        break;
    }
}

size_t model_bytes(const model *self, uint64_t number, size_t at, bool big,
                   unsigned char *bytes)
{
    prng random = prng_of(self->seed ^ at, self->thread, number);
    size_t size = big ? 20000 + prng_below(&random, MODEL_SIZE_MAX - 20000)
                      : prng_below(&random, 6);

    /* Many short, some long. */
    if (!big)
        size = prng_below(&random, (size_t)8 << (2 * size));
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = prng_next(&random);

        memcpy(bytes + i, &word, size - i < 8 ? size - i : 8);
    }
    return size;
}
