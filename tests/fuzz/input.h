/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - choices and texts from a fuzzer's bytes. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include "fuzz.h"
#include "holdfast/base.h"

typedef struct input {
    const uint8_t *at;
    const uint8_t *end;
} input;

static inline size_t input_left(const input *self)
{
    return (size_t)(self->end - self->at);
}

/* The next byte; 0 at the end. */
static inline uint8_t input_byte(input *self)
{
    return self->at < self->end ? *self->at++ : 0;
}

/* The next two, the lower first. */
static inline unsigned input_short(input *self)
{
    unsigned low = input_byte(self);

    return low | (unsigned)input_byte(self) << 8;
}

/* A number below `limit`, which is at most 256. */
static inline size_t input_below(input *self, size_t limit)
{
    return input_byte(self) % limit;
}

/* At most `most` bytes, by a byte for their number; fewer at the end. */
static inline hf_bytes input_bytes(input *self, size_t most)
{
    size_t size = input_byte(self);
    hf_bytes taken;

    size = size < most ? size : most;
    if (size > input_left(self))
        size = input_left(self);
    taken = hf_view(self->at, size);
    self->at += size;
    return taken;
}

#endif
