/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_event.h - what happened to a key, for keyspace notifications. Noted with
 * the messages, and only while a process wants events of that class.
 */
#ifndef HF__ENGINE_KEY_EVENT_H
#define HF__ENGINE_KEY_EVENT_H

#include "engine/wake/ring_write.h"

/* Classes, as bits of tx->watched above those of the rings; the comments have
 * their letters in notify-keyspace-events. */
enum {
    HF__EVENT_GENERIC = 1u << 8,  /* g */
    HF__EVENT_STRING = 1u << 9,   /* $ */
    HF__EVENT_LIST = 1u << 10,    /* l */
    HF__EVENT_SET = 1u << 11,     /* s */
    HF__EVENT_HASH = 1u << 12,    /* h */
    HF__EVENT_ZSET = 1u << 13,    /* z */
    HF__EVENT_EXPIRED = 1u << 14, /* x */
    HF__EVENT_NEW = 1u << 15,     /* n */
    HF__EVENT_STREAM = 1u << 16,  /* t */
    /* None: a key whose elements alone change is changed, too. */
    HF__EVENT_TOUCHED = 1u << 17
};
/* An event has its class and, from this bit on, the number of its database. */
#define HF__EVENT_DATABASE_AT 24

void hf__key_event_put(hf__tx *tx, uint32_t event_class, const char *name,
                       hf_bytes key);
static inline void hf__key_event(hf__tx *tx, uint32_t event_class,
                                 const char *name, hf_bytes key)
{
    if ((tx->watched & event_class) != 0)
        hf__key_event_put(tx, event_class, name, key);
}

#endif
