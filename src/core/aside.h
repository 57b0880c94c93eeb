/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside.h - calls that walk a whole store. They make many requests one after
 * the other, in a cluster to each master in turn, so a started one has a thread
 * of its own. It gathers what it finds, for hf_client_dispatch() to report.
 */
#ifndef HF__CORE_ASIDE_H
#define HF__CORE_ASIDE_H

#include <pthread.h>

#include "core/call.h"

typedef struct hf__aside hf__aside;

/* Those of a client. */
typedef struct hf__asides {
    pthread_mutex_t mutex;
    hf__aside *first;
} hf__asides;

void hf__asides_init(hf__asides *asides);
/* The client is being closed: wait for them. In a child of fork(): nothing. */
void hf__asides_done(hf__asides *asides, bool forked);

/* Run or start a call that was put together; work() makes its requests. */
hf_status hf__end_aside(hf_call *call,
                        hf_status (*work)(hf_call *call, hf_error *err));

/* Between two requests: has a started call been cancelled, or its client
 * closed? */
hf_status hf__aside_check(const hf_call *call, hf_error *err);

static inline bool hf__is_aside(const hf_call *call)
{
    return call->form.kind == HF__FORM_STARTED;
}

#endif
