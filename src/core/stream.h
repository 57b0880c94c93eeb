/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - a handle from which items are fetched as they come, by blocking
 * and started calls. An item goes to the first started call; what the owner
 * keeps for later ones is its own.
 *
 * Locks: the completions' mutex, then `mutex`. Calls are completed with none
 * held, by who has removed them from `calls`.
 */
#ifndef HF__CORE_STREAM_H
#define HF__CORE_STREAM_H

#include <pthread.h>

#include "core/call.h"

typedef struct hf__stream hf__stream;

typedef struct hf__stream_kind {
    size_t item_size;
    const char *timeout; /* message: nothing came */
    /* With the mutex: is there an item, or a failure to report? */
    bool (*has)(const hf__stream *self);
    /* With the mutex: move it to an item, zeroed or of an earlier call, which
     * stays unchanged unless HF_OK is returned. */
    hf_status (*take)(hf__stream *self, void *item, hf_error *err);
    /* Move an item to one of an earlier call. */
    void (*move)(void *to, void *from);
    void (*free)(void *item); /* what it owns */
} hf__stream_kind;

struct hf__stream {
    hf_client *client;
    const hf__stream_kind *kind;
    pthread_mutex_t mutex; /* guards the rest, and the owner's items */
    pthread_cond_t changed;
    hf_call *calls; /* started, in their order */
    hf_call **calls_end;
};

void hf__stream_init(hf__stream *self, hf_client *client,
                     const hf__stream_kind *kind);
/* In a forked child `changed` may have waiters that do not exist there. */
void hf__stream_done(hf__stream *self, bool forked);

/* Something has come: wake blocking calls, complete started ones. */
void hf__stream_serve(hf__stream *self);
/* Complete all started calls. */
void hf__stream_end(hf__stream *self, hf_status status, const char *why);

/* The two calls; the arguments were checked. */
hf_status hf__stream_next(hf__stream *self, void *item, int64_t wait_ms,
                          hf_error *err);
hf_status hf__stream_next_start(hf__stream *self, void *item,
                                const hf_async *async, hf_error *err);

#endif
