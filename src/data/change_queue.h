/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_queue.h - changes that were not fetched yet, bounded in bytes.
 *
 * If it is full, all that is in it becomes one gap. A change equal to the last
 * one in it is dropped. The caller locks.
 */
#ifndef HF__DATA_CHANGE_QUEUE_H
#define HF__DATA_CHANGE_QUEUE_H

#include "holdfast/watch.h"
#include "util/buf.h"

typedef struct hf__change_queue {
    hf__buf entries;
    size_t last_size; /* of the last entry; 0: none */
    bool gap;         /* before the first */
} hf__change_queue;

void hf__change_queue_init(hf__change_queue *queue, size_t max_bytes);
void hf__change_queue_done(hf__change_queue *queue);

void hf__change_queue_put(hf__change_queue *queue, hf_change_kind kind,
                          hf_bytes key);
/* Its reader reads all keys again, so what is in the queue is dropped. */
void hf__change_queue_gap(hf__change_queue *queue);

bool hf__change_queue_is_empty(const hf__change_queue *queue);

/* Take the first of a queue that is not empty; `key` is empty before. false: no
 * memory; the change stays. */
bool hf__change_queue_take(hf__change_queue *queue, hf_change_kind *kind,
                           hf_buffer *key);

#endif
