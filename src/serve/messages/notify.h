/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - keyspace notifications: the parameter notify-keyspace-events, and
 * the channels of an event.
 */
#ifndef HF__SERVE_NOTIFY_H
#define HF__SERVE_NOTIFY_H

#include "engine/engine.h"

/* Parameter flags: the classes of key_event.h, and these. */
enum {
    HF__NOTIFY_EVICTED = 1u << 17, /* e; of these three there are no events */
    HF__NOTIFY_MODULE = 1u << 18,  /* d */
    HF__NOTIFY_MISS = 1u << 19,    /* m */
    HF__NOTIFY_BY_KEY = 1u << 20,  /* K */
    HF__NOTIFY_BY_EVENT = 1u << 21 /* E */
};

/* Letters to flags; false: one is unknown. */
bool hf__notify_read(hf_bytes letters, uint32_t *flags);
/* As Redis shows them. */
#define HF__NOTIFY_TEXT_SIZE 16
void hf__notify_show(uint32_t flags, char text[HF__NOTIFY_TEXT_SIZE]);

/* The classes of events that the store is to report. */
uint32_t hf__notify_classes(uint32_t flags);

/* With the number of the database. */
#define HF__NOTIFY_KEY_CHANNEL "__keyspace@%u__:"
#define HF__NOTIFY_EVENT_CHANNEL "__keyevent@%u__:"

#endif
