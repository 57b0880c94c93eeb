/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - the file in which published messages go from writers to
 * processes with subscribers, and in which those say how many they have.
 */
#ifndef HF__ENGINE_MESSAGES_FILE_H
#define HF__ENGINE_MESSAGES_FILE_H

#include "engine/files/ring.h"

/* The messages of the last moments, bytes; a slower reader gets a gap. */
#define HF__MESSAGES_RING (UINT64_C(8) << 20)

#define HF__SUBSCRIPTION_CHAINS 16384u
#define HF__SUBSCRIPTION_MAX 65536u
#define HF__PATTERN_MAX 1024u
#define HF__PATTERN_SIZE 240u

/* How often one reader has subscribed to a channel; `next` is a number from 1
 * on in its chain. */
typedef struct hf__channel_count {
    uint64_t hash; /* of the channel */
    uint32_t next;
    uint32_t count;
    uint32_t reader;
    uint32_t used;
} hf__channel_count;

/* The same of a pattern; free if count is 0. */
typedef struct hf__pattern_count {
    uint32_t count;
    uint16_t reader;
    uint16_t size;
    char text[HF__PATTERN_SIZE];
} hf__pattern_count;

/* All of it is touched under the writer lock only, except for the ring. */
typedef struct hf__messages {
    hf__ring_head head;
    uint32_t relinking; /* the chains may be incomplete */
    uint32_t free_from; /* where to search for a free subscription */
    uint32_t pattern_end;
    uint32_t reserved;
    uint32_t unlisted[HF__RING_READERS]; /* for which there was no room */
    uint32_t chains[HF__SUBSCRIPTION_CHAINS];
    hf__channel_count subscriptions[HF__SUBSCRIPTION_MAX];
    hf__pattern_count patterns[HF__PATTERN_MAX];
    uint64_t words[HF__MESSAGES_RING / 8];
} hf__messages;
_Static_assert(offsetof(hf__messages, words) % 8 == 0, "words are atomic");

static inline hf__messages *hf__messages_of(const hf__ring *ring)
{
    return (hf__messages *)(void *)ring->head;
}

#endif
