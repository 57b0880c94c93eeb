/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - threads of one client that want the same lock wait here for each
 * other, so that one of them at a time waits at the store.
 */
#ifndef HF__CORE_GATE_H
#define HF__CORE_GATE_H

#include <pthread.h>

#include "holdfast.h"

typedef struct hf__gate hf__gate;

/* Enough lists that names seldom share one. */
#define HF__GATE_LISTS 64

typedef struct hf__gates {
    pthread_mutex_t mutex; /* guards all gates */
    hf__gate *lists[HF__GATE_LISTS];
} hf__gates;

void hf__gates_init(hf__gates *gates);
void hf__gates_done(hf__gates *gates);

/*
 * Become the one thread that waits at the store for `name`, an instant of
 * hf__clock_boot_ms() at the latest. On HF_OK `*gate` is to be left again.
 * HF_TIMEOUT: others stood before us until then.
 */
hf_status hf__gate_enter(hf__gates *gates, hf_bytes name, int64_t until_ms,
                         hf__gate **gate, hf_error *err);
void hf__gate_leave(hf__gates *gates, hf__gate *gate);

#endif
