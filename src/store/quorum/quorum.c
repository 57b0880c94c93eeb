/* SPDX-License-Identifier: Apache-2.0 */
/* quorum.c - the store behind "redlock:"; see quorum.h. */
#include "store/quorum/quorum.h"

#include <stdio.h>
#include <string.h>

#include "store/diagnosis.h"
#include "store/quorum/broadcast.h"
#include "store/quorum/nodes.h"
#include "store/quorum/quorum_round.h"
#include "store/quorum/tally.h"
#include "store/quorum/watches.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/futex.h"
#include "util/mem.h"
#include "util/rand.h"
#include "util/url.h"

static hf__quorum *self_of(hf__store *store)
{
    return (hf__quorum *)(void *)store;
}

static bool is_forked(const hf__quorum *self)
{
    return self->fork_generation != hf__fork_generation();
}

/* ----------------------------------------------------------- open and close */

static void free_self(hf__quorum *self)
{
    if (!is_forked(self)) {
        pthread_cond_destroy(&self->changed);
        pthread_mutex_destroy(&self->mutex);
    }
    hf__free(self);
}

static void quorum_close(hf__store *store)
{
    hf__quorum *self = self_of(store);

    if (is_forked(self)) {
        hf__nodes_close(self);
        free_self(self);
        return;
    }
    /* Closing a node completes its requests, and a round that ends by that must
     * not use a node closed before. */
    pthread_mutex_lock(&self->mutex);
    self->closing = true;
    while (self->submitting > 0)
        hf__cond_wait_until(&self->changed, &self->mutex, INT64_MAX);
    pthread_mutex_unlock(&self->mutex);
    hf__nodes_close(self);
    pthread_mutex_lock(&self->mutex);
    while (self->work > 0)
        hf__cond_wait_until(&self->changed, &self->mutex, INT64_MAX);
    pthread_mutex_unlock(&self->mutex);
    free_self(self);
}

/* The client has the same id on all of them. */
static hf_status open_nodes(hf__quorum *self, const hf__store_config *config,
                            hf_error *err)
{
    hf__store_config own = *config;
    char id[HF__STORE_ID_SIZE];

    hf__rand_hex(id, sizeof(id) / 2);
    if (own.client_id == NULL)
        own.client_id = id;
    return hf__nodes_open(self, &own, own.url->path, err);
}

static hf_status quorum_open(const hf__store_config *config, hf__store **store,
                             hf_error *err)
{
    hf__quorum *self;
    hf_status status;

    if (config->replicas > 0)
        return hf__fail(err, HF_UNSUPPORTED, HF__REPLICAS_NOWHERE);
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a quorum");
    self->base.ops = &hf__quorum_store_ops;
    self->base.capabilities = HF__CAP_EVENTS | HF__CAP_UNDOES | HF__CAP_ALONE;
    self->loop = config->loop;
    self->fork_generation = hf__fork_generation();
    self->restart_ms = HF__QUORUM_RESTART_MS;
    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->changed);
    self->opened_ms = hf__clock_boot_ms();
    status = open_nodes(self, config, err);
    if (status == HF_OK)
        status = hf__nodes_probe(self, config->connect_ms, err);
    if (status != HF_OK) {
        quorum_close(&self->base);
        return status;
    }
    *store = &self->base;
    return HF_OK;
}

/* ---------------------------------------------------------------- requests */

/* A node that lost a lock votes again after the quarantine, perhaps for a
 * second owner if the lease is longer. 0: nodes lose nothing. */
static bool outlives_quarantine(const hf__quorum *self,
                                const hf__request *request)
{
    return self->restart_ms > 0 && request->script->acquire != NULL &&
           hf__quorum_round_ttl(request) > self->restart_ms;
}

/* Requests that fail before they are sent; true: it did. */
static bool refuse_request(const hf__quorum *self, hf__request *request)
{
    request->sends = 0;
    if (is_forked(self))
        hf__request_fail(request, HF_INVALID,
                         "the client was opened before fork()");
    else if (!hf__tally_knows(request->script))
        hf__request_fail(request, HF_UNSUPPORTED,
                         "a redlock: store has locks only; values, hashes and "
                         "scripts need a single server or a cluster");
    else if (outlives_quarantine(self, request))
        hf__request_fail(request, HF_INVALID,
                         "a lease of %lld ms is longer than the quarantine of "
                         "restarted servers, %lld ms "
                         "(redlock:quarantine=MS,...)",
                         (long long)hf__quorum_round_ttl(request),
                         (long long)self->restart_ms);
    else if (request->deadline_ms <= hf__clock_boot_ms())
        hf__request_fail(request, HF_UNAVAILABLE, "no time is left");
    else
        return false;
    return true;
}

static void quorum_submit(hf__store *store, hf__request *const *requests,
                          size_t count)
{
    hf__quorum *self = self_of(store);

    for (size_t i = 0; i < count; i++) {
        if (refuse_request(self, requests[i]))
            requests[i]->on_done(requests[i]);
        else
            hf__broadcast(self, requests[i]);
    }
}

static void wake_caller(hf__request *request)
{
    uint32_t *done = request->user;

    __atomic_store_n(done, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(done, false); /* no longer dereferenced */
}

static void quorum_perform(hf__store *store, hf__request *request)
{
    hf__quorum *self = self_of(store);
    uint32_t done = 0;

    if (refuse_request(self, request))
        return;
    request->on_done = wake_caller;
    request->user = &done;
    hf__broadcast(self, request);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&done, 0, INT64_MAX, false);
}

static void quorum_cancel(hf__store *store, hf__request *request)
{
    hf__broadcast_cancel(self_of(store), request);
}

/* The same on every node. */
static const char *quorum_inbox(hf__store *store)
{
    hf__store *first = self_of(store)->nodes[0].store;

    return first->ops->inbox(first);
}

static uint32_t quorum_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

/* ---------------------------------------------------------------- describe */

typedef struct described {
    hf__describe_fn line;
    void *user;
    size_t number;
} described;

static void describe_node(void *user, const char *name, const char *value)
{
    const described *self = user;
    char numbered[64];

    snprintf(numbered, sizeof(numbered), "server_%zu.%s", self->number, name);
    self->line(self->user, numbered, value);
}

static void quorum_describe(hf__store *store, hf__describe_fn line, void *user)
{
    hf__quorum *self = self_of(store);
    described to = {.line = line, .user = user};
    char text[32];

    line(user, "store", "a quorum of independent servers; locks only");
    snprintf(text, sizeof(text), "%zu", self->count);
    line(user, "servers", text);
    snprintf(text, sizeof(text), "%zu", self->majority);
    line(user, "majority", text);
    snprintf(text, sizeof(text), "%lld", (long long)self->restart_ms);
    line(user, "quarantine_ms", text);
    for (size_t i = 0; i < self->count; i++) {
        hf__store *node = self->nodes[i].store;

        to.number = i + 1;
        node->ops->describe(node, describe_node, &to);
        if (!is_forked(self)) /* a forked child may find the mutex locked */
            describe_node(&to, "votes",
                          hf__node_may_vote(self, i) ? "yes" : "no");
    }
}

static void on_identified(void *user)
{
    uint32_t *identified = user;

    __atomic_store_n(identified, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(identified, false); /* no longer dereferenced */
}

/* Identifies the node first if it is unknown. */
static bool may_vote_now(hf__quorum *self, size_t node, const hf__diagnosis *to)
{
    int64_t until_ms = hf__diagnosis_until(to, hf__clock_boot_ms());
    uint32_t identified = 0;

    hf__node_identify(self, node, until_ms, on_identified, &identified);
    while (__atomic_load_n(&identified, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&identified, 0, INT64_MAX, false);
    return hf__node_may_vote(self, node);
}

typedef struct examined {
    const hf__diagnosis *to;
    bool away;
} examined;

static void examined_remark(void *user, const hf_store_diagnostic *remark)
{
    examined *self = user;

    if (remark->level == HF_LEVEL_ERROR &&
        strcmp(remark->name, "reachable") == 0)
        self->away = true;
    self->to->remark(self->to->user, remark);
}

/* A node that was unreachable is not asked again. */
static bool examine_node(hf__quorum *self, size_t at, const hf__diagnosis *to)
{
    hf__store *node = self->nodes[at].store;
    examined seen = {.to = to};
    hf__diagnosis own = *to;

    own.remark = examined_remark;
    own.user = &seen;
    node->ops->diagnose(node, &own);
    return !seen.away && may_vote_now(self, at, to);
}

static void quorum_diagnose(hf__store *store, const hf__diagnosis *to)
{
    hf__quorum *self = self_of(store);
    size_t voters = 0;

    for (size_t i = 0; i < self->count; i++)
        voters += examine_node(self, i, to) ? 1 : 0;
    if (voters < self->majority)
        hf__report_error(to, HF_UNAVAILABLE, "quorum",
                         "bring servers back; one that was started again "
                         "votes after the quarantine",
                         "%zu of %zu servers may vote; %zu are needed", voters,
                         self->count, self->majority);
    else
        hf__report(to, voters == self->count ? HF_LEVEL_OK : HF_LEVEL_WARNING,
                   "quorum",
                   voters == self->count ? "" : "bring the others back",
                   "%zu of %zu servers may vote; %zu are needed", voters,
                   self->count, self->majority);
}

static const char *const schemes[] = {"redlock", NULL};

const hf__store_ops hf__quorum_store_ops = {
    .schemes = schemes,
    .open = quorum_open,
    .perform = quorum_perform,
    .submit = quorum_submit,
    .inbox = quorum_inbox,
    .event_seq = hf__quorum_event_seq,
    .event_votes = hf__quorum_event_votes,
    .event_agreed = hf__quorum_event_agreed,
    .event_key = hf__quorum_event_key,
    .event_wait = hf__quorum_event_wait,
    .event_wake = hf__quorum_event_wake,
    .event_watch = hf__quorum_event_watch,
    .event_unwatch = hf__quorum_event_unwatch,
    .shard = quorum_shard,
    .describe = quorum_describe,
    .diagnose = quorum_diagnose,
    .close = quorum_close,
    .cancel = quorum_cancel,
};
