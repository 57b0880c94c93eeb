/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_items.h - the reply of timeline_page and timeline_get. */
#ifndef HF__DATA_TIMELINE_ITEMS_H
#define HF__DATA_TIMELINE_ITEMS_H

#include "core/call.h"
#include "core/own_key.h"

/* The keys as a script expects them, and room for `count` more words. */
void hf__add_timeline(hf_call *call, hf_bytes key, size_t count);

/* HF_INVALID, or one word more. */
void hf__add_id(hf_call *call, hf_bytes id);

/* Times of items are ms for callers, us in the store. */
#define HF__US_PER_MS 1000
hf_status hf__check_time(int64_t at_ms, const char *what, hf_error *err);

/* In a reply, of the first item; a cursor and a count of items that are due
 * come before it. */
#define HF__ITEMS_FIRST 2
static inline int64_t hf__items_due(const hf_reply *reply)
{
    return reply->array.items[1].integer;
}

/* Set the caller's items, as call->out. */
hf_status hf__finish_items(hf_call *call, hf_error *err);

/* A position as the caller's cursor. */
hf_status hf__set_cursor(hf_buffer *cursor, const hf_reply *position,
                         hf_error *err);

#endif
