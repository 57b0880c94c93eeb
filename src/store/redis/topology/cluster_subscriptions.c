/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_subscriptions.c - see cluster_subscriptions.h.
 *
 * A subscription belongs to one node, whose server it holds. All have the same
 * channel and move the same counters.
 *
 * 1. A waiter for a topic uses the subscription of the node that has its slot;
 *    it is created the first time, and stays while the node has slots.
 * 2. Nodes forward messages to each other, so every subscription receives each
 *    message. It counts on the slot's node, and on another one only if that is
 *    not subscribed, as each wake-up costs a request.
 * 3. When a node has lost its last slot its subscription is closed and every
 *    counter moves: its last messages may be lost, and waiters must use the new
 *    node's subscription.
 *
 * Locks: `mutex` guards the list and the use counts, for moments; the map's may
 * be taken within it.
 */
#include "store/redis/topology/cluster_subscriptions.h"

#include <string.h>

#include "store/redis/events/event_ops.h"
#include "store/redis/topology/slots.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

struct hf__cluster_subscription {
    hf__subscription subscription; /* first */
    hf__cluster_subscriptions *subscriptions;
    hf__cluster_subscription *next;
    hf__server *server;
    uint32_t node_id;
    unsigned users; /* plus one until it is closed */
    hf__task free_task;
};

static hf__cluster_subscription *ear_of(hf__subscription *inbox)
{
    return (hf__cluster_subscription *)(void *)inbox;
}

void hf__cluster_subscriptions_init(hf__cluster_subscriptions *subscriptions,
                                    hf__cluster_map *map)
{
    memset(subscriptions, 0, sizeof(*subscriptions));
    subscriptions->map = map;
    hf__events_init(&subscriptions->events);
    pthread_mutex_init(&subscriptions->mutex, NULL);
}

static hf__cluster_subscription *
find_locked(const hf__cluster_subscriptions *subscriptions, uint32_t node_id)
{
    hf__cluster_subscription *subscription = subscriptions->first;

    while (subscription != NULL && subscription->node_id != node_id)
        subscription = subscription->next;
    return subscription;
}

static bool accepts_topic(hf__subscription *inbox, hf_bytes topic)
{
    const hf__cluster_subscription *subscription = ear_of(inbox);
    hf__cluster_subscriptions *subscriptions = subscription->subscriptions;

    return hf__cluster_map_owner(subscriptions->map, hf__slot_of(topic)) ==
               subscription->node_id ||
           !hf__cluster_subscriptions_listen(subscriptions, topic);
}

/* Takes over the hold of the server. */
static hf__cluster_subscription *
make_locked(hf__cluster_subscriptions *subscriptions, hf__server *server,
            uint32_t node_id)
{
    hf__cluster_subscription *subscription = hf__alloc(sizeof(*subscription));

    if (subscription == NULL) {
        hf__server_release(server);
        return NULL;
    }
    hf__subscription_init(&subscription->subscription, &server->node);
    subscription->subscription.events = &subscriptions->events;
    subscription->subscription.accepts = accepts_topic;
    subscription->subscriptions = subscriptions;
    subscription->server = server;
    subscription->node_id = node_id;
    subscription->users = 1;
    subscription->next = subscriptions->first;
    subscriptions->first = subscription;
    return subscription;
}

/* Get the subscription for a topic, to be put back; NULL: out of memory. */
static hf__cluster_subscription *
take_subscription(hf__cluster_subscriptions *subscriptions, hf_bytes topic)
{
    hf__cluster_subscription *subscription;
    hf__server *server;
    uint32_t node_id;

    pthread_mutex_lock(&subscriptions->mutex);
    server =
        hf__cluster_map_take(subscriptions->map, hf__slot_of(topic), &node_id);
    subscription = server == NULL ? NULL : find_locked(subscriptions, node_id);
    if (subscription != NULL)
        hf__server_release(server);
    else if (server != NULL)
        subscription = make_locked(subscriptions, server, node_id);
    if (subscription != NULL)
        subscription->users++;
    pthread_mutex_unlock(&subscriptions->mutex);
    return subscription;
}

static void run_free(hf__task *task)
{
    hf__cluster_subscription *subscription =
        hf__container_of(task, hf__cluster_subscription, free_task);
    hf__cluster_subscriptions *subscriptions = subscription->subscriptions;

    hf__subscription_done(&subscription->subscription);
    hf__server_release(subscription->server);
    hf__free(subscription);
    __atomic_sub_fetch(&subscriptions->leaving, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&subscriptions->leaving, false);
}

/* The last user has it freed after the tasks that users have posted. */
static void give_back(hf__cluster_subscription *subscription)
{
    hf__cluster_subscriptions *subscriptions = subscription->subscriptions;
    bool last;

    pthread_mutex_lock(&subscriptions->mutex);
    last = --subscription->users == 0;
    pthread_mutex_unlock(&subscriptions->mutex);
    if (!last)
        return;
    subscription->free_task.run = run_free;
    hf__loop_post(subscriptions->map->context->loop, &subscription->free_task);
}

/* ------------------------------------------------------------------ events */

uint32_t hf__cluster_subscriptions_seq(hf__cluster_subscriptions *subscriptions,
                                       hf_bytes topic, int64_t deadline_ms)
{
    hf__cluster_subscription *subscription = NULL;
    uint32_t seq;

    if (!hf__store_context_is_forked(subscriptions->map->context))
        subscription = take_subscription(subscriptions, topic);
    if (subscription == NULL)
        return hf__events_read(&subscriptions->events,
                               hf__events_bucket(topic));
    seq = hf__event_seq(&subscription->subscription, topic, deadline_ms);
    give_back(subscription);
    return seq;
}

bool hf__cluster_subscriptions_listen(hf__cluster_subscriptions *subscriptions,
                                      hf_bytes topic)
{
    uint32_t owner =
        hf__cluster_map_owner(subscriptions->map, hf__slot_of(topic));
    const hf__cluster_subscription *its;
    bool listens;

    pthread_mutex_lock(&subscriptions->mutex);
    its = find_locked(subscriptions, owner);
    listens = its != NULL && hf__subscription_listens(&its->subscription);
    pthread_mutex_unlock(&subscriptions->mutex);
    return listens;
}

void hf__cluster_subscriptions_key(hf__cluster_subscriptions *subscriptions,
                                   hf_bytes key, bool held)
{
    hf__cluster_subscription *subscription = NULL;

    if (!hf__store_context_is_forked(subscriptions->map->context))
        subscription = take_subscription(subscriptions, key);
    if (subscription == NULL)
        return;
    hf__event_watch_key(&subscription->subscription, key, held);
    give_back(subscription);
}

/* At the node of its slot only, which is also where sharded messages are. */
void hf__cluster_subscriptions_hear(hf__cluster_subscriptions *subscriptions,
                                    hf_bytes topic, hf_bytes channel,
                                    bool sharded, int64_t keep_ms)
{
    hf__cluster_subscription *subscription = NULL;

    if (!hf__store_context_is_forked(subscriptions->map->context))
        subscription = take_subscription(subscriptions, topic);
    if (subscription == NULL)
        return;
    hf__event_channel(&subscription->subscription, topic, channel, sharded,
                      keep_ms);
    give_back(subscription);
}

bool hf__cluster_subscriptions_wait(hf__cluster_subscriptions *subscriptions,
                                    hf_bytes topic, uint32_t seq,
                                    int64_t until_ms)
{
    return hf__events_wait(&subscriptions->events, hf__events_bucket(topic),
                           seq, until_ms);
}

hf_status
hf__cluster_subscriptions_watch(hf__cluster_subscriptions *subscriptions,
                                hf_bytes topic, hf__watch *watch, hf_error *err)
{
    hf__cluster_subscription *subscription;
    hf_status status;

    if (hf__store_context_is_forked(subscriptions->map->context))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    subscription = take_subscription(subscriptions, topic);
    if (subscription == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__event_watch(&subscription->subscription, topic, watch, err);
    give_back(subscription);
    return status;
}

void hf__cluster_subscriptions_unwatch(hf__cluster_subscriptions *subscriptions,
                                       hf__watch *watch)
{
    hf__event_unwatch(subscriptions->map->context, &subscriptions->events,
                      watch);
}

/* --------------------------------------------------------------------- end */

static void on_closed(hf__subscription *inbox)
{
    give_back(ear_of(inbox));
}

/* Remove one whose node has no slots; NULL: none. */
static hf__cluster_subscription *
take_lost(hf__cluster_subscriptions *subscriptions)
{
    hf__cluster_subscription **place = &subscriptions->first;
    hf__cluster_subscription *subscription;

    pthread_mutex_lock(&subscriptions->mutex);
    while (*place != NULL &&
           hf__cluster_map_serves(subscriptions->map, (*place)->node_id))
        place = &(*place)->next;
    subscription = subscriptions->closing ? NULL : *place;
    if (subscription != NULL) {
        *place = subscription->next;
        __atomic_add_fetch(&subscriptions->leaving, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&subscriptions->mutex);
    return subscription;
}

void hf__cluster_subscriptions_lost(hf__cluster_subscriptions *subscriptions)
{
    hf__cluster_subscription *subscription;

    while ((subscription = take_lost(subscriptions)) != NULL)
        hf__subscription_close_here(&subscription->subscription, on_closed);
    hf__events_move_all(&subscriptions->events);
}

void hf__cluster_subscriptions_close(hf__cluster_subscriptions *subscriptions)
{
    hf__cluster_subscription *subscription;
    uint32_t leaving;

    /* A map may be installed concurrently. */
    pthread_mutex_lock(&subscriptions->mutex);
    subscriptions->closing = true;
    pthread_mutex_unlock(&subscriptions->mutex);
    while ((leaving = __atomic_load_n(&subscriptions->leaving,
                                      __ATOMIC_ACQUIRE)) != 0)
        hf__futex_wait(&subscriptions->leaving, leaving, INT64_MAX, false);
    while ((subscription = subscriptions->first) != NULL) {
        subscriptions->first = subscription->next;
        hf__subscription_close(&subscription->subscription);
        hf__server_release(subscription->server);
        hf__free(subscription);
    }
}

void hf__cluster_subscriptions_done(hf__cluster_subscriptions *subscriptions)
{
    pthread_mutex_destroy(&subscriptions->mutex);
}

void hf__cluster_subscriptions_abandon(hf__cluster_subscriptions *subscriptions)
{
    hf__cluster_subscription *subscription;

    while ((subscription = subscriptions->first) != NULL) {
        subscriptions->first = subscription->next;
        hf__subscription_abandon(&subscription->subscription);
        hf__free(subscription);
    }
}
