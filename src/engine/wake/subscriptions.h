/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriptions.h - how many subscribers a channel has in each process, in the
 * file of messages. The file is mapped and the writer lock held.
 */
#ifndef HF__ENGINE_SUBSCRIPTIONS_H
#define HF__ENGINE_SUBSCRIPTIONS_H

#include "engine/commit/env.h"
#include "engine/files/messages.h"

/* Names of different kinds have nothing to do with one another. */
typedef enum hf__channel_kind {
    HF__CHANNEL = 1,
    HF__CHANNEL_SHARD = 2,
    HF__CHANNEL_PATTERN = 3 /* of channels of the first kind */
} hf__channel_kind;

/*
 * One subscriber more or less. false: there is no room, or the pattern is too
 * long: the reader then receives all messages, and this subscriber is not
 * counted. remove() must know.
 */
bool hf__subscription_add(hf__env *env, uint32_t reader, hf__channel_kind kind,
                          hf_bytes name);
void hf__subscription_remove(hf__env *env, uint32_t reader,
                             hf__channel_kind kind, hf_bytes name, bool listed);

/* How many receive a message, and a bit in *readers for each slot in which some
 * do. Dead processes do not count. */
int64_t hf__subscription_count(hf__env *env, hf__channel_kind kind,
                               hf_bytes name, bool patterns, uint64_t *readers);

/* Drop those of slots that are free. */
void hf__subscriptions_prune(hf__env *env);

#endif
