/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h - scores as unsigned numbers of the same order.
 */
#ifndef HF__ENGINE_SCORE_H
#define HF__ENGINE_SCORE_H

#include <stdint.h>
#include <string.h>

static inline uint64_t hf__order_of(double score)
{
    uint64_t bits;

    if (score == 0)
        score = 0; /* not minus zero */
    memcpy(&bits, &score, sizeof(bits));
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline double hf__score_of(uint64_t order)
{
    uint64_t bits = order >> 63 ? order & ~(UINT64_C(1) << 63) : ~order;
    double score;

    memcpy(&score, &bits, sizeof(score));
    return score;
}

#endif
