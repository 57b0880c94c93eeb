/* SPDX-License-Identifier: Apache-2.0 */
/* change_queue.c - see change_queue.h. */
#include "data/change_queue.h"

#include <string.h>

#include "util/mem.h"

/* Its key follows. */
typedef struct change_entry {
    uint32_t key_size;
    uint32_t kind;
} change_entry;

void hf__change_queue_init(hf__change_queue *queue, size_t max_bytes)
{
    hf__buf_init(&queue->entries, max_bytes);
    queue->last_size = 0;
    queue->gap = false;
}

void hf__change_queue_done(hf__change_queue *queue)
{
    hf__buf_done(&queue->entries);
}

void hf__change_queue_gap(hf__change_queue *queue)
{
    hf__buf_clear(&queue->entries);
    queue->last_size = 0;
    queue->gap = true;
}

static bool equals_last(const hf__change_queue *queue, const change_entry *head,
                        hf_bytes key)
{
    const hf__buf *entries = &queue->entries;
    const unsigned char *last;

    if (queue->last_size != sizeof(*head) + key.size)
        return false;
    last = entries->data + entries->end - queue->last_size;
    return memcmp(last, head, sizeof(*head)) == 0 &&
           memcmp(last + sizeof(*head), key.data, key.size) == 0;
}

void hf__change_queue_put(hf__change_queue *queue, hf_change_kind kind,
                          hf_bytes key)
{
    change_entry head = {(uint32_t)key.size, kind};
    size_t size = sizeof(head) + key.size;
    unsigned char *at;

    if (equals_last(queue, &head, key))
        return;
    at = hf__buf_reserve(&queue->entries, size);
    if (at == NULL) {
        hf__change_queue_gap(queue);
        return;
    }
    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), key.data, key.size);
    hf__buf_added(&queue->entries, size);
    queue->last_size = size;
}

static bool copy_key(hf_bytes key, hf_buffer *copy)
{
    char *data = hf__alloc(key.size + 1);

    if (data == NULL)
        return false;
    memcpy(data, key.data, key.size);
    data[key.size] = '\0';
    copy->data = data;
    copy->size = key.size;
    return true;
}

bool hf__change_queue_is_empty(const hf__change_queue *queue)
{
    return !queue->gap && hf__buf_size(&queue->entries) == 0;
}

bool hf__change_queue_take(hf__change_queue *queue, hf_change_kind *kind,
                           hf_buffer *key)
{
    const unsigned char *at = hf__buf_front(&queue->entries);
    change_entry head;

    if (queue->gap) {
        *kind = HF_CHANGE_GAP;
        queue->gap = false;
        return true;
    }
    memcpy(&head, at, sizeof(head));
    if (!copy_key(hf_view(at + sizeof(head), head.key_size), key))
        return false;
    *kind = (hf_change_kind)head.kind;
    hf__buf_consume(&queue->entries, sizeof(head) + head.key_size);
    if (hf__buf_size(&queue->entries) == 0)
        queue->last_size = 0;
    return true;
}
