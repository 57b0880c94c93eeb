/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silence_limit.h - how long a server may be silent before a request is sent
 * again on a new connection.
 *
 * A client that gave up after 2 s and asked again would never hear a server
 * that takes 2 s to reply. So each node records its slowest recent reply,
 * aborted silences included, and gets twice that. The record decays by an
 * eighth with every faster reply. Any thread.
 */
#ifndef HF__STORE_REDIS_SILENCE_LIMIT_H
#define HF__STORE_REDIS_SILENCE_LIMIT_H

#include "store/redis/server/node.h"

/* A login or a repeatable request took so long, or longer. */
static inline void hf__silence_learn(hf__redis_node *node, int64_t took_ms)
{
    uint32_t slow_ms = __atomic_load_n(&node->slow_ms, __ATOMIC_RELAXED);
    uint32_t faded_ms = slow_ms - (slow_ms + 7) / 8;

    if (took_ms <= 0 && slow_ms == 0)
        return;
    if (took_ms > (int64_t)faded_ms)
        faded_ms = took_ms < UINT32_MAX ? (uint32_t)took_ms : UINT32_MAX;
    if (faded_ms != slow_ms)
        __atomic_store_n(&node->slow_ms, faded_ms, __ATOMIC_RELAXED);
}

/* At least `least_ms`. */
static inline int64_t hf__silence_limit(const hf__redis_node *node,
                                        int64_t least_ms)
{
    int64_t twice_ms =
        2 * (int64_t)__atomic_load_n(&node->slow_ms, __ATOMIC_RELAXED);

    return twice_ms > least_ms ? twice_ms : least_ms;
}

#endif
