/* SPDX-License-Identifier: Apache-2.0 */
/* watches.c - see watches.h. */
#include "store/quorum/watches.h"

#include <stdatomic.h>

#include "store/quorum/nodes.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"
#include "util/order.h"

/* Between two polls, if the nodes cannot be watched. */
#define POLL_MS 50

/* To subscribe on all nodes, before each try: a node that hangs must not delay
 * it more. */
#define LISTEN_MS 100

typedef struct hf__quorum_watch hf__quorum_watch;

/* A watch on one node. */
typedef struct inner {
    hf__watch watch;
    hf__quorum_watch *outer;
    size_t node;
} inner;

/* A watch on all of them. */
struct hf__quorum_watch {
    hf__quorum *quorum;
    hf__watch *outer;
    hf__quorum_watch *next;
    size_t count; /* of nodes watched */
    inner inners[HF__QUORUM_NODES_MAX];
};

static hf__quorum *self_of(hf__store *store)
{
    return (hf__quorum *)(void *)store;
}

static uint32_t read_seq(hf__quorum *self, hf_bytes topic, int64_t until_ms)
{
    uint32_t seq = 0;

    for (size_t i = 0; i < self->count; i++) {
        hf__store *node = self->nodes[i].store;

        seq += node->ops->event_seq(node, topic, until_ms);
    }
    return seq + atomic_load(&self->woken);
}

uint32_t hf__quorum_event_seq(hf__store *store, hf_bytes topic,
                              int64_t deadline_ms)
{
    return read_seq(self_of(store), topic,
                    hf__at_most(deadline_ms, hf__clock_boot_ms() + LISTEN_MS));
}

void hf__quorum_event_votes(hf__store *store, hf_bytes topic,
                            uint32_t votes[HF__VOTES_MAX])
{
    hf__quorum *self = self_of(store);

    for (size_t i = 0; i < self->count; i++) {
        hf__store *node = self->nodes[i].store;

        votes[i] = node->ops->event_seq(node, topic, 0);
    }
}

hf__agreement hf__quorum_event_agreed(hf__store *store, hf_bytes topic,
                                      const uint32_t votes[HF__VOTES_MAX])
{
    hf__quorum *self = self_of(store);
    uint32_t now[HF__VOTES_MAX];
    size_t listening = 0, heard = 0, polls = 0;

    hf__quorum_event_votes(store, topic, now);
    for (size_t i = 0; i < self->count; i++) {
        hf__store *node = self->nodes[i].store;
        bool listens = node->ops->event_listens(node, topic);

        listening += listens;
        heard += listens && now[i] != votes[i];
        polls += !listens && now[i] != votes[i];
    }
    if (heard >= self->majority)
        return HF__AGREED_MAJORITY;
    return heard > 0 || (listening == 0 && polls > 0) ? HF__AGREED_SOME
                                                      : HF__AGREED_NONE;
}

void hf__quorum_event_key(hf__store *store, hf_bytes key, bool held)
{
    hf__quorum *self = self_of(store);

    for (size_t i = 0; i < self->count; i++) {
        hf__store *node = self->nodes[i].store;

        if (node->ops->event_key != NULL)
            node->ops->event_key(node, key, held);
    }
}

/* The counters of an unreachable node move now and then, so that those who wait
 * on it alone poll (inbox.c). Here the other nodes report events. */
static void inner_moved(hf__watch *watch)
{
    const inner *self = (inner *)(void *)watch;
    hf__watch *outer = self->outer->outer;
    bool silent[HF__QUORUM_NODES_MAX];

    hf__nodes_silent(self->outer->quorum, silent);
    if (!silent[self->node])
        outer->moved(outer);
}

static hf_status watch_all(hf__quorum *self, hf_bytes topic,
                           hf__quorum_watch *made, hf_error *err)
{
    made->quorum = self;
    for (made->count = 0; made->count < self->count; made->count++) {
        hf__store *node = self->nodes[made->count].store;
        inner *one = &made->inners[made->count];
        hf_status status;

        one->watch = (hf__watch){.moved = inner_moved};
        one->outer = made;
        one->node = made->count;
        status = node->ops->event_watch(node, topic, &one->watch, err);
        if (status != HF_OK)
            return status;
    }
    return HF_OK;
}

static void unwatch_all(hf__quorum *self, hf__quorum_watch *made)
{
    for (size_t i = 0; i < made->count; i++) {
        hf__store *node = self->nodes[i].store;

        node->ops->event_unwatch(node, &made->inners[i].watch);
    }
}

/* A thread that sleeps until a node's counter moves. */
typedef struct hf__quorum_sleeper {
    hf__watch base;
    uint32_t moved; /* futex */
    hf_bytes topic;
    struct hf__quorum_sleeper *next;
} sleeping;

static void wake_sleeper(hf__watch *watch)
{
    sleeping *self = (sleeping *)(void *)watch;

    __atomic_store_n(&self->moved, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->moved, false);
}

static bool sleep_by_poll(hf__quorum *self, hf_bytes topic, uint32_t seq,
                          int64_t until_ms)
{
    while (read_seq(self, topic, 0) == seq) {
        int64_t now_ms = hf__clock_boot_ms();

        if (now_ms >= until_ms)
            return false;
        hf__clock_sleep_until(hf__at_most(until_ms, now_ms + POLL_MS));
    }
    return true;
}

void hf__quorum_event_wake(hf__store *store, hf_bytes topic)
{
    hf__quorum *self = self_of(store);

    pthread_mutex_lock(&self->mutex);
    atomic_fetch_add(&self->woken, 1);
    for (sleeping *one = self->sleepers; one != NULL; one = one->next) {
        if (hf__bytes_same(one->topic, topic))
            wake_sleeper(&one->base);
    }
    pthread_mutex_unlock(&self->mutex);
}

static void add_sleeper(hf__quorum *self, sleeping *sleeper)
{
    pthread_mutex_lock(&self->mutex);
    sleeper->next = self->sleepers;
    self->sleepers = sleeper;
    pthread_mutex_unlock(&self->mutex);
}

static void remove_sleeper(hf__quorum *self, const sleeping *sleeper)
{
    sleeping **at = &self->sleepers;

    pthread_mutex_lock(&self->mutex);
    while (*at != sleeper)
        at = &(*at)->next;
    *at = sleeper->next;
    pthread_mutex_unlock(&self->mutex);
}

bool hf__quorum_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                           int64_t until_ms)
{
    hf__quorum *self = self_of(store);
    sleeping sleeper = {.base.moved = wake_sleeper, .topic = topic};
    hf__quorum_watch made = {.outer = &sleeper.base};
    bool moved;

    if (watch_all(self, topic, &made, NULL) != HF_OK) {
        unwatch_all(self, &made);
        return sleep_by_poll(self, topic, seq, until_ms);
    }
    add_sleeper(self, &sleeper);
    moved = read_seq(self, topic, 0) != seq;
    while (!moved && hf__clock_boot_ms() < until_ms) {
        hf__futex_wait(&sleeper.moved, 0, until_ms, false);
        moved = __atomic_load_n(&sleeper.moved, __ATOMIC_ACQUIRE) != 0;
    }
    remove_sleeper(self, &sleeper);
    unwatch_all(self, &made);
    return moved;
}

hf_status hf__quorum_event_watch(hf__store *store, hf_bytes topic,
                                 hf__watch *watch, hf_error *err)
{
    hf__quorum *self = self_of(store);
    hf__quorum_watch *made = hf__calloc(1, sizeof(*made));
    hf_status status;

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "waiting for a lock");
    made->outer = watch;
    status = watch_all(self, topic, made, err);
    if (status != HF_OK) {
        unwatch_all(self, made);
        hf__free(made);
        return status;
    }
    pthread_mutex_lock(&self->mutex);
    made->next = self->watches;
    self->watches = made;
    pthread_mutex_unlock(&self->mutex);
    return HF_OK;
}

static hf__quorum_watch *take_watch(hf__quorum *self, const hf__watch *watch)
{
    hf__quorum_watch **at = &self->watches;
    hf__quorum_watch *found;

    pthread_mutex_lock(&self->mutex);
    while (*at != NULL && (*at)->outer != watch)
        at = &(*at)->next;
    found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&self->mutex);
    return found;
}

void hf__quorum_event_unwatch(hf__store *store, hf__watch *watch)
{
    hf__quorum *self = self_of(store);
    hf__quorum_watch *found = take_watch(self, watch);

    if (found == NULL)
        return;
    unwatch_all(self, found);
    hf__free(found);
}
