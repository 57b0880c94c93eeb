/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat.h - requests that are sent again and again, by the client's loop
 * thread, for as long as something lasts on another: a renewal.
 */
#ifndef HF__CORE_REPEAT_H
#define HF__CORE_REPEAT_H

#include <pthread.h>

#include "holdfast/client.h"
#include "store/request.h"
#include "util/heap.h"
#include "util/loop.h"

typedef struct hf__repeat {
    hf__heap_node node; /* first: a node is cast to its repeat */
    /* Fill the request; its words are copied. With a mutex held. */
    void (*fill)(struct hf__repeat *self, hf__request *request);
    int64_t every_ms;
    int64_t time_ms; /* of each request */
} hf__repeat;

typedef struct hf__repeats {
    hf_client *client;
    pthread_mutex_t mutex; /* guards the rest */
    hf__heap heap;
    hf__alarm *alarm; /* NULL: not made */
    int64_t armed_ms; /* when it rings at the latest; INT64_MAX: never */
    bool closed;
} hf__repeats;

void hf__repeats_init(hf__repeats *repeats, hf_client *client);
/* Nothing is sent any more. Not from the loop thread. In a forked child only
 * memory is freed. */
void hf__repeats_close(hf__repeats *repeats, bool forked);

/* Send it first every_ms from now; not at all if there is no thread or no
 * memory for it. Any thread, also after the close. */
void hf__repeat_begin(hf__repeats *repeats, hf__repeat *self);
/* fill() is not called any more. Any thread, also if it has not begun. */
void hf__repeat_end(hf__repeats *repeats, hf__repeat *self);

#endif
