/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c - a binary min-heap of pointers; each node knows its own place, so
 * that moving and removing cost O(log n) too.
 */
#include "util/heap.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

void hf__heap_init(hf__heap *heap)
{
    memset(heap, 0, sizeof(*heap));
}

void hf__heap_done(hf__heap *heap)
{
    hf__free(heap->nodes);
    hf__heap_init(heap);
}

void hf__heap_node_init(hf__heap_node *node)
{
    node->at_ms = 0;
    node->sequence = 0;
    node->index = HF__HEAP_NONE;
}

bool hf__heap_reserve(hf__heap *heap, size_t count)
{
    size_t capacity = heap->capacity < 8 ? 8 : heap->capacity;
    hf__heap_node **nodes;

    if (count <= heap->capacity)
        return true;
    if (count > SIZE_MAX / sizeof(*nodes) / 2)
        return false;
    while (capacity < count)
        capacity *= 2;
    nodes = hf__realloc(heap->nodes, capacity * sizeof(*nodes));
    if (nodes == NULL)
        return false;
    heap->nodes = nodes;
    heap->capacity = capacity;
    return true;
}

static bool is_before(const hf__heap_node *a, const hf__heap_node *b)
{
    if (a->at_ms != b->at_ms)
        return a->at_ms < b->at_ms;
    return a->sequence < b->sequence;
}

static void place_node(hf__heap *heap, hf__heap_node *node, size_t index)
{
    heap->nodes[index] = node;
    node->index = index;
}

/* Both directions end at a free place for `node`, which is at none. */
static void sift_up(hf__heap *heap, hf__heap_node *node, size_t index)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;

        if (!is_before(node, heap->nodes[parent]))
            break;
        place_node(heap, heap->nodes[parent], index);
        index = parent;
    }
    place_node(heap, node, index);
}

static void sift_down(hf__heap *heap, hf__heap_node *node, size_t index)
{
    for (;;) {
        size_t child = 2 * index + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            is_before(heap->nodes[child + 1], heap->nodes[child]))
            child++;
        if (!is_before(heap->nodes[child], node))
            break;
        place_node(heap, heap->nodes[child], index);
        index = child;
    }
    place_node(heap, node, index);
}

static void sift_node(hf__heap *heap, hf__heap_node *node, size_t index)
{
    if (index > 0 && is_before(node, heap->nodes[(index - 1) / 2]))
        sift_up(heap, node, index);
    else
        sift_down(heap, node, index);
}

void hf__heap_put(hf__heap *heap, hf__heap_node *node, int64_t at_ms)
{
    if (node->index == HF__HEAP_NONE) {
        assert(heap->count < heap->capacity);
        node->index = heap->count++;
    }
    node->at_ms = at_ms;
    node->sequence = heap->next_sequence++;
    sift_node(heap, node, node->index);
}

void hf__heap_remove(hf__heap *heap, hf__heap_node *node)
{
    size_t index = node->index;
    hf__heap_node *last;

    if (index == HF__HEAP_NONE)
        return;
    node->index = HF__HEAP_NONE;
    last = heap->nodes[--heap->count];
    if (last != node)
        sift_node(heap, last, index);
}

hf__heap_node *hf__heap_first(const hf__heap *heap)
{
    return heap->count == 0 ? NULL : heap->nodes[0];
}
