/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_entry.h - a request in the pipeline. */
#ifndef HF__STORE_REDIS_PIPELINE_ENTRY_H
#define HF__STORE_REDIS_PIPELINE_ENTRY_H

#include "store/redis/server/retry.h"
#include "store/store.h"
#include "util/heap.h"

typedef enum hf__pipeline_place {
    HF__ENTRY_QUEUED,  /* in a lane */
    HF__ENTRY_LATER,   /* in the heap of those waiting for a retry */
    HF__ENTRY_WRITTEN, /* in flight: formatted, at least */
    HF__ENTRY_HELD     /* answered: its replicas are being counted
                          (pipeline_internal.h) */
} hf__pipeline_place;

struct hf__pipeline;

typedef struct hf__pipeline_entry hf__pipeline_entry;
struct hf__pipeline_entry {
    hf__request *request;          /* NULL: expired, its reply is still due */
    struct hf__pipeline *pipeline; /* where it is; loop thread only */
    uint32_t *parked; /* set to 1 when complete; NULL: call on_done */
    unsigned group;   /* the wait group of `parked` */
    hf__pipeline_place place;
    hf__pipeline_entry *next;
    hf__pipeline_entry *previous;
    hf__heap_node due;     /* the deadline */
    hf__heap_node again;   /* when it may be sent again */
    uint64_t begins_at;    /* its first byte's offset in the stream */
    int64_t not_before_ms; /* when it is accepted; 0: at once */
    int64_t until_ms;      /* when counting its replicas ends */
    int64_t time_ms;       /* of one that waits: for all else */
    bool uncounted;        /* goes by the ordinary pipeline */
    hf__attempts attempts;
};

/* A list in order; all operations are O(1). */
typedef struct hf__pipeline_list {
    hf__pipeline_entry *first;
    hf__pipeline_entry *last;
    size_t count;
} hf__pipeline_list;

static inline void hf__pipeline_list_append(hf__pipeline_list *list,
                                            hf__pipeline_entry *entry)
{
    entry->next = NULL;
    entry->previous = list->last;
    if (list->last != NULL)
        list->last->next = entry;
    else
        list->first = entry;
    list->last = entry;
    list->count++;
}

static inline void hf__pipeline_list_prepend(hf__pipeline_list *list,
                                             hf__pipeline_entry *entry)
{
    entry->previous = NULL;
    entry->next = list->first;
    if (list->first != NULL)
        list->first->previous = entry;
    else
        list->last = entry;
    list->first = entry;
    list->count++;
}

static inline void hf__pipeline_list_unlink(hf__pipeline_list *list,
                                            hf__pipeline_entry *entry)
{
    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else
        list->first = entry->next;
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    else
        list->last = entry->previous;
    list->count--;
}

static inline hf__pipeline_entry *
hf__pipeline_list_take(hf__pipeline_list *list)
{
    hf__pipeline_entry *entry = list->first;

    if (entry != NULL)
        hf__pipeline_list_unlink(list, entry);
    return entry;
}

/* Append everything to `to`. */
static inline void hf__pipeline_list_move(hf__pipeline_list *to,
                                          hf__pipeline_list *from)
{
    if (from->first == NULL)
        return;
    from->first->previous = to->last;
    if (to->last != NULL)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    to->count += from->count;
    *from = (hf__pipeline_list){NULL, NULL, 0};
}

#endif
