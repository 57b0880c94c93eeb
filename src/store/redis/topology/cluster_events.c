/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_events.c - see cluster_events.h.
 *
 * A connection belongs to one node, whose server it holds. All have the same
 * channel and move the same counters.
 *
 * 1. A waiter for a topic uses the connection to the node that has its slot;
 *    it is created the first time, and stays while the node has slots.
 * 2. Nodes forward messages to each other, so every connection receives each
 *    message. It counts on the slot's node, and on another one only if that is
 *    not subscribed, as each wake-up costs a request.
 * 3. When a node has lost its last slot its connection is closed and every
 *    counter moves: its last messages may be lost, and waiters must use the new
 *    node's connection.
 *
 * Locks: `mutex` guards the list and the use counts, for moments; the map's may
 * be taken within it.
 */
#include "store/redis/topology/cluster_events.h"

#include "store/redis/events/event_ops.h"
#include "store/redis/topology/slots.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

struct hf__cluster_conn {
    hf__event_conn conn; /* first */
    hf__cluster_events *all;
    hf__cluster_conn *next;
    hf__server *server;
    uint32_t node_id;
    unsigned users; /* plus one until it is closed */
    hf__task free_task;
};

static hf__cluster_conn *conn_of(hf__event_conn *conn)
{
    return (hf__cluster_conn *)(void *)conn;
}

void hf__cluster_events_init(hf__cluster_events *all, hf__cluster_map *map)
{
    all->map = map;
    hf__events_init(&all->events);
    pthread_mutex_init(&all->mutex, NULL);
}

static hf__cluster_conn *find_locked(const hf__cluster_events *all,
                                     uint32_t node_id)
{
    hf__cluster_conn *self = all->first;

    while (self != NULL && self->node_id != node_id)
        self = self->next;
    return self;
}

/* Is the node of a topic's slot subscribed to? */
static bool listens_to(hf__cluster_events *all, hf_bytes topic)
{
    uint32_t owner = hf__cluster_map_owner(all->map, hf__slot_of(topic));
    const hf__cluster_conn *its;
    bool listens;

    pthread_mutex_lock(&all->mutex);
    its = find_locked(all, owner);
    listens = its != NULL && hf__event_conn_listens(&its->conn);
    pthread_mutex_unlock(&all->mutex);
    return listens;
}

static bool accepts_topic(hf__event_conn *conn, hf_bytes topic)
{
    const hf__cluster_conn *self = conn_of(conn);
    hf__cluster_events *all = self->all;

    return hf__cluster_map_owner(all->map, hf__slot_of(topic)) ==
               self->node_id ||
           !listens_to(all, topic);
}

/* Takes over the hold of the server. */
static hf__cluster_conn *make_locked(hf__cluster_events *all,
                                     hf__server *server, uint32_t node_id)
{
    hf__cluster_conn *self = hf__alloc(sizeof(*self));

    if (self == NULL) {
        hf__server_release(server);
        return NULL;
    }
    hf__event_conn_init(&self->conn, &server->node);
    self->conn.events = &all->events;
    self->conn.accepts = accepts_topic;
    self->all = all;
    self->server = server;
    self->node_id = node_id;
    self->users = 1;
    self->next = all->first;
    all->first = self;
    return self;
}

/* Get the connection for a topic, to be put back. NULL: out of memory, or in a
 * forked child. */
static hf__cluster_conn *take_conn(hf__cluster_events *all, hf_bytes topic)
{
    hf__cluster_conn *self;
    hf__server *server;
    uint32_t node_id;

    if (hf__store_context_is_forked(all->map->context))
        return NULL;
    pthread_mutex_lock(&all->mutex);
    server = hf__cluster_map_take(all->map, hf__slot_of(topic), &node_id);
    self = server == NULL ? NULL : find_locked(all, node_id);
    if (self != NULL)
        hf__server_release(server);
    else if (server != NULL)
        self = make_locked(all, server, node_id);
    if (self != NULL)
        self->users++;
    pthread_mutex_unlock(&all->mutex);
    return self;
}

static void run_free(hf__task *task)
{
    hf__cluster_conn *self =
        hf__container_of(task, hf__cluster_conn, free_task);
    hf__cluster_events *all = self->all;

    hf__event_conn_done(&self->conn);
    hf__server_release(self->server);
    hf__free(self);
    __atomic_sub_fetch(&all->leaving, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&all->leaving, false);
}

/* The last user has it freed after the tasks that users have posted. */
static void give_back(hf__cluster_conn *self)
{
    hf__cluster_events *all = self->all;
    bool last;

    pthread_mutex_lock(&all->mutex);
    last = --self->users == 0;
    pthread_mutex_unlock(&all->mutex);
    if (!last)
        return;
    self->free_task.run = run_free;
    hf__loop_post(all->map->context->loop, &self->free_task);
}

/* ------------------------------------------------------------------ events */

static hf__cluster_events *events_of(hf__store *store)
{
    return (hf__cluster_events *)store;
}

uint32_t hf__cluster_event_seq(hf__store *store, hf_bytes topic,
                               int64_t deadline_ms)
{
    hf__cluster_events *all = events_of(store);
    hf__cluster_conn *self = take_conn(all, topic);
    uint32_t seq;

    if (self == NULL)
        return hf__events_read(&all->events, hf__events_bucket(topic));
    seq = hf__event_seq(&self->conn, topic, deadline_ms);
    give_back(self);
    return seq;
}

bool hf__cluster_event_listens(hf__store *store, hf_bytes topic)
{
    return listens_to(events_of(store), topic);
}

void hf__cluster_event_key(hf__store *store, hf_bytes key, bool held)
{
    hf__cluster_conn *self = take_conn(events_of(store), key);

    if (self == NULL)
        return;
    hf__event_watch_key(&self->conn, key, held);
    give_back(self);
}

/* At the node of its slot only, which is also where sharded messages are. */
void hf__cluster_event_channel(hf__store *store, hf_bytes topic,
                               hf_bytes channel, bool sharded, int64_t keep_ms)
{
    hf__cluster_conn *self = take_conn(events_of(store), topic);

    if (self == NULL)
        return;
    hf__event_channel(&self->conn, topic, channel, sharded, keep_ms);
    give_back(self);
}

bool hf__cluster_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                            int64_t until_ms)
{
    return hf__events_wait(&events_of(store)->events, hf__events_bucket(topic),
                           seq, until_ms);
}

void hf__cluster_event_wake(hf__store *store, hf_bytes topic)
{
    hf__events_wake(&events_of(store)->events, hf__events_bucket(topic));
}

hf_status hf__cluster_event_watch(hf__store *store, hf_bytes topic,
                                  hf__watch *watch, hf_error *err)
{
    hf__cluster_events *all = events_of(store);
    hf__cluster_conn *self;
    hf_status status;

    if (hf__store_context_is_forked(all->map->context))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    self = take_conn(all, topic);
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__event_watch(&self->conn, topic, watch, err);
    give_back(self);
    return status;
}

void hf__cluster_event_unwatch(hf__store *store, hf__watch *watch)
{
    hf__cluster_events *all = events_of(store);

    hf__event_unwatch(all->map->context, &all->events, watch);
}

/* --------------------------------------------------------------------- end */

static void on_closed(hf__event_conn *conn)
{
    give_back(conn_of(conn));
}

/* Remove one whose node has no slots; NULL: none. */
static hf__cluster_conn *take_lost(hf__cluster_events *all)
{
    hf__cluster_conn **place = &all->first;
    hf__cluster_conn *self;

    pthread_mutex_lock(&all->mutex);
    while (*place != NULL &&
           hf__cluster_map_serves(all->map, (*place)->node_id))
        place = &(*place)->next;
    self = all->closing ? NULL : *place;
    if (self != NULL) {
        *place = self->next;
        __atomic_add_fetch(&all->leaving, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&all->mutex);
    return self;
}

void hf__cluster_events_lost(hf__cluster_events *all)
{
    hf__cluster_conn *self;

    while ((self = take_lost(all)) != NULL)
        hf__event_conn_close_here(&self->conn, on_closed);
    hf__events_move_all(&all->events);
}

void hf__cluster_events_close(hf__cluster_events *all)
{
    hf__cluster_conn *self;
    uint32_t leaving;

    /* A map may be installed concurrently. */
    pthread_mutex_lock(&all->mutex);
    all->closing = true;
    pthread_mutex_unlock(&all->mutex);
    while ((leaving = __atomic_load_n(&all->leaving, __ATOMIC_ACQUIRE)) != 0)
        hf__futex_wait(&all->leaving, leaving, INT64_MAX, false);
    for (;;) {
        /* The loop thread may be looking for one of them. */
        pthread_mutex_lock(&all->mutex);
        self = all->first;
        if (self != NULL)
            all->first = self->next;
        pthread_mutex_unlock(&all->mutex);
        if (self == NULL)
            break;
        hf__event_conn_close(&self->conn);
        hf__server_release(self->server);
        hf__free(self);
    }
}

void hf__cluster_events_done(hf__cluster_events *all)
{
    pthread_mutex_destroy(&all->mutex);
}

void hf__cluster_events_close_forked(hf__cluster_events *all)
{
    hf__cluster_conn *self;

    while ((self = all->first) != NULL) {
        all->first = self->next;
        hf__event_conn_close_forked(&self->conn);
        hf__free(self);
    }
}
