/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - an intrusive binary min-heap of instants. Equal instants come out
 * in the order they went in.
 */
#ifndef HF__UTIL_HEAP_H
#define HF__UTIL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HF__HEAP_NONE SIZE_MAX

typedef struct hf__heap_node {
    int64_t at_ms;
    uint64_t sequence; /* breaks ties */
    size_t index;      /* HF__HEAP_NONE: not in a heap */
} hf__heap_node;

typedef struct hf__heap {
    hf__heap_node **nodes;
    size_t count;
    size_t capacity;
    uint64_t next_sequence;
} hf__heap;

void hf__heap_init(hf__heap *heap);
void hf__heap_done(hf__heap *heap);
void hf__heap_node_init(hf__heap_node *node);

/* Make room for `count` nodes in all; false: out of memory. Afterwards that
 * many can be in the heap and hf__heap_put() cannot fail. */
bool hf__heap_reserve(hf__heap *heap, size_t count);

/* Insert, or move if it is in the heap already. Room must be reserved. */
void hf__heap_put(hf__heap *heap, hf__heap_node *node, int64_t at_ms);
void hf__heap_remove(hf__heap *heap, hf__heap_node *node); /* no-op if out */
hf__heap_node *hf__heap_first(const hf__heap *heap);       /* NULL: empty */

#endif
