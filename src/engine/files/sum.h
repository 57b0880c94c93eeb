/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.h - the checksum of key records, against damage, not against attackers.
 */
#ifndef HF__ENGINE_SUM_H
#define HF__ENGINE_SUM_H

#include "holdfast/base.h"

/* A long text is summed in parts of this size, each starting from the previous
 * sum. */
#define HF__SUM_PART 65536u

/* Stored, folded to 16 bits, or to 32 of a chunk of a string, whose seed is its
 * number: never change it. */
uint64_t hf__sum(uint64_t seed, const void *data, size_t size);
uint16_t hf__sum_fold(uint64_t sum);
static inline uint32_t hf__sum_chunk(uint64_t number, const void *data,
                                     size_t size)
{
    uint64_t sum = hf__sum(number, data, size);

    return (uint32_t)(sum ^ sum >> 32);
}

#endif
