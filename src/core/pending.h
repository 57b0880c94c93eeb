/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending.h - asynchronous calls that wait for something other than a reply,
 * which closing the store would not complete. The list is the loop thread's.
 */
#ifndef HF__CORE_PENDING_H
#define HF__CORE_PENDING_H

#include "holdfast/client.h"

typedef struct hf__pending {
    /* The client is being closed: stop timers and watches, and wait no longer.
     * It is no longer in the list. */
    void (*close)(struct hf__pending *self);
    struct hf__pending *next;
    struct hf__pending **at;
} hf__pending;

/* On the loop thread. */
void hf__pending_add(hf_client *client, hf__pending *self);
void hf__pending_remove(hf__pending *self);

/* Closing a client, without calls under way: close all. Not on the loop
 * thread. */
void hf__pending_close(hf_client *client);

#endif
