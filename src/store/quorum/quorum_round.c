/* SPDX-License-Identifier: Apache-2.0 */
/* quorum_round.c - see quorum_round.h. */
#include "store/quorum/quorum_round.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/quorum/work.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/order.h"

/* How long a node may take to answer an acquire, and again to confirm it: a
 * tenth of the lease, within these, but no more than a third of it. */
#define NODE_MIN_MS 50
#define NODE_MAX_MS 200
#define NODE_LEAST_MS 20 /* however short the lease */

int64_t hf__quorum_round_ttl(const hf__request *acquire)
{
    hf_bytes word = acquire->words[acquire->script->acquire->ttl];
    char text[24] = "";

    if (word.size > 0 && word.size < sizeof(text))
        memcpy(text, word.data, word.size);
    return strtoll(text, NULL, 10);
}

hf__quorum_round *hf__quorum_round_new(hf__quorum *quorum, hf__request *request)
{
    size_t count = request->word_count;
    size_t size = 0;
    hf__quorum_round *self = hf__calloc(
        1, sizeof(*self) + (quorum->count + 1) * count * sizeof(hf_bytes));
    char *at;

    if (self == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        size += request->words[i].size;
    at = self->bytes = hf__alloc(size);
    if (at == NULL) {
        hf__free(self);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (request->words[i].size > 0)
            memcpy(at, request->words[i].data, request->words[i].size);
        self->words[i] = hf_view(at, request->words[i].size);
        at += request->words[i].size;
    }
    self->quorum = quorum;
    self->request = request;
    self->acquire = request->script->acquire;
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

void hf__quorum_round_drop(hf__quorum_round *self)
{
    pthread_mutex_destroy(&self->mutex);
    hf__free(self->bytes);
    hf__free(self);
}

static void round_free(hf__quorum_round *self)
{
    hf__quorum *quorum = self->quorum;

    for (size_t i = 0; i < quorum->count; i++) {
        hf__request_done(&self->parts[i].request);
        hf__request_done(&self->confirms[i].request);
    }
    hf__quorum_round_drop(self);
    pthread_mutex_lock(&quorum->mutex);
    hf__work_ended_locked(quorum);
    pthread_mutex_unlock(&quorum->mutex);
}

void hf__quorum_round_leave_locked(hf__quorum_round *self)
{
    bool last = --self->open == 0;

    assert(!last || self->request == NULL);
    pthread_mutex_unlock(&self->mutex);
    if (last)
        round_free(self);
}

int64_t hf__quorum_round_node_deadline(const hf__quorum_round *self,
                                       int64_t deadline_ms)
{
    int64_t third_ms = hf__at_least(self->ttl_ms / 3, NODE_LEAST_MS);
    int64_t limit_ms;

    if (self->ttl_ms == 0)
        return deadline_ms;
    limit_ms =
        hf__at_least(hf__at_most(self->ttl_ms / 10, NODE_MAX_MS), NODE_MIN_MS);
    return hf__at_most(
        deadline_ms,
        hf__clock_after(hf__clock_boot_ms(), hf__at_most(limit_ms, third_ms)));
}
