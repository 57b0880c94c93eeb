/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_subscriptions.c - see cluster_subscriptions.h.
 *
 * An ear is an inbox at one node, whose server it holds. All have the same id
 * and move the same counters.
 *
 * 1. Whoever waits for a topic gets the ear of the node that has its slot; it
 *    is made the first time. Nothing closes it while the node has slots.
 * 2. A message comes to every ear, as nodes tell each other. It counts on that
 *    of the slot's node; on another one only if that does not listen, for what
 *    one wake-up is worth is one question to the server.
 * 3. When a node has lost its last slot its ear is closed and every counter
 *    moves: what it published in its last moment may be lost, and who waits
 *    must go to the ear of the new node.
 *
 * Locks: `mutex` guards the list and the counts of users, for moments; the
 * map's may be taken inside of it.
 */
#include "store/redis/topology/cluster_subscriptions.h"

#include <string.h>

#include "store/redis/events/event_ops.h"
#include "store/redis/topology/slots.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

struct hf__cluster_ear {
    hf__inbox inbox; /* first: an inbox of ours is an ear */
    hf__cluster_ears *ears;
    hf__cluster_ear *next;
    hf__server *server;
    uint32_t node_id;
    unsigned users; /* and one more until it is closed */
    hf__task free_task;
};

static hf__cluster_ear *ear_of(hf__inbox *inbox)
{
    return (hf__cluster_ear *)(void *)inbox;
}

void hf__cluster_ears_init(hf__cluster_ears *ears, hf__cluster_map *map)
{
    memset(ears, 0, sizeof(*ears));
    ears->map = map;
    hf__events_init(&ears->events);
    pthread_mutex_init(&ears->mutex, NULL);
}

static hf__cluster_ear *find_locked(const hf__cluster_ears *ears,
                                    uint32_t node_id)
{
    hf__cluster_ear *ear = ears->first;

    while (ear != NULL && ear->node_id != node_id)
        ear = ear->next;
    return ear;
}

static bool accepts(hf__inbox *inbox, hf_bytes topic)
{
    const hf__cluster_ear *ear = ear_of(inbox);
    hf__cluster_ears *ears = ear->ears;
    uint32_t owner = hf__cluster_map_owner(ears->map, hf__slot_of(topic));
    const hf__cluster_ear *its;
    bool elsewhere;

    if (owner == ear->node_id)
        return true;
    pthread_mutex_lock(&ears->mutex);
    its = find_locked(ears, owner);
    elsewhere = its != NULL && hf__inbox_listens(&its->inbox);
    pthread_mutex_unlock(&ears->mutex);
    return !elsewhere;
}

/* Takes the server over. */
static hf__cluster_ear *make_locked(hf__cluster_ears *ears, hf__server *server,
                                    uint32_t node_id)
{
    hf__cluster_ear *ear = hf__alloc(sizeof(*ear));

    if (ear == NULL) {
        hf__server_release(server);
        return NULL;
    }
    hf__inbox_init(&ear->inbox, &server->node);
    ear->inbox.events = &ears->events;
    ear->inbox.accepts = accepts;
    ear->ears = ears;
    ear->server = server;
    ear->node_id = node_id;
    ear->users = 1;
    ear->next = ears->first;
    ears->first = ear;
    return ear;
}

/* The ear for a topic, to be given back; NULL: there is no memory. */
static hf__cluster_ear *take(hf__cluster_ears *ears, hf_bytes topic)
{
    hf__cluster_ear *ear;
    hf__server *server;
    uint32_t node_id;

    pthread_mutex_lock(&ears->mutex);
    server = hf__cluster_map_take(ears->map, hf__slot_of(topic), &node_id);
    ear = server == NULL ? NULL : find_locked(ears, node_id);
    if (ear != NULL)
        hf__server_release(server);
    else if (server != NULL)
        ear = make_locked(ears, server, node_id);
    if (ear != NULL)
        ear->users++;
    pthread_mutex_unlock(&ears->mutex);
    return ear;
}

static void run_free(hf__task *task)
{
    hf__cluster_ear *ear = hf__container_of(task, hf__cluster_ear, free_task);
    hf__cluster_ears *ears = ear->ears;

    hf__inbox_done(&ear->inbox);
    hf__server_release(ear->server);
    hf__free(ear);
    __atomic_sub_fetch(&ears->leaving, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&ears->leaving, false);
}

/* The last one has it freed behind the tasks that its users have posted. */
static void give_back(hf__cluster_ear *ear)
{
    hf__cluster_ears *ears = ear->ears;
    bool last;

    pthread_mutex_lock(&ears->mutex);
    last = --ear->users == 0;
    pthread_mutex_unlock(&ears->mutex);
    if (!last)
        return;
    ear->free_task.run = run_free;
    hf__loop_post(ears->map->fleet->loop, &ear->free_task);
}

/* ------------------------------------------------------------------ events */

uint32_t hf__cluster_ears_seq(hf__cluster_ears *ears, hf_bytes topic,
                              int64_t deadline_ms)
{
    hf__cluster_ear *ear = NULL;
    uint32_t seq;

    if (!hf__fleet_is_forked(ears->map->fleet))
        ear = take(ears, topic);
    if (ear == NULL)
        return hf__events_read(&ears->events, hf__events_bucket(topic));
    seq = hf__listen_seq(&ear->inbox, topic, deadline_ms);
    give_back(ear);
    return seq;
}

void hf__cluster_ears_key(hf__cluster_ears *ears, hf_bytes key)
{
    hf__cluster_ear *ear = NULL;

    if (!hf__fleet_is_forked(ears->map->fleet))
        ear = take(ears, key);
    if (ear == NULL)
        return;
    hf__listen_watch_key(&ear->inbox, key);
    give_back(ear);
}

bool hf__cluster_ears_wait(hf__cluster_ears *ears, hf_bytes topic, uint32_t seq,
                           int64_t until_ms)
{
    return hf__events_wait(&ears->events, hf__events_bucket(topic), seq,
                           until_ms);
}

hf_status hf__cluster_ears_watch(hf__cluster_ears *ears, hf_bytes topic,
                                 hf__watch *watch, hf_error *err)
{
    hf__cluster_ear *ear;
    hf_status status;

    if (hf__fleet_is_forked(ears->map->fleet))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    ear = take(ears, topic);
    if (ear == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__listen_watch(&ear->inbox, topic, watch, err);
    give_back(ear);
    return status;
}

void hf__cluster_ears_unwatch(hf__cluster_ears *ears, hf__watch *watch)
{
    hf__listen_unwatch(ears->map->fleet, &ears->events, watch);
}

/* --------------------------------------------------------------------- end */

static void on_closed(hf__inbox *inbox)
{
    give_back(ear_of(inbox));
}

/* Take one out whose node has no slots; NULL: there is none. */
static hf__cluster_ear *take_lost(hf__cluster_ears *ears)
{
    hf__cluster_ear **place = &ears->first;
    hf__cluster_ear *ear;

    pthread_mutex_lock(&ears->mutex);
    while (*place != NULL &&
           hf__cluster_map_serves(ears->map, (*place)->node_id))
        place = &(*place)->next;
    ear = ears->closing ? NULL : *place;
    if (ear != NULL) {
        *place = ear->next;
        __atomic_add_fetch(&ears->leaving, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&ears->mutex);
    return ear;
}

void hf__cluster_ears_lost(hf__cluster_ears *ears)
{
    hf__cluster_ear *ear;

    while ((ear = take_lost(ears)) != NULL)
        hf__inbox_close_here(&ear->inbox, on_closed);
    hf__events_move_all(&ears->events);
}

void hf__cluster_ears_close(hf__cluster_ears *ears)
{
    hf__cluster_ear *ear;
    uint32_t leaving;

    /* A map may be installed at the same time. */
    pthread_mutex_lock(&ears->mutex);
    ears->closing = true;
    pthread_mutex_unlock(&ears->mutex);
    while ((leaving = __atomic_load_n(&ears->leaving, __ATOMIC_ACQUIRE)) != 0)
        hf__futex_wait(&ears->leaving, leaving, INT64_MAX, false);
    while ((ear = ears->first) != NULL) {
        ears->first = ear->next;
        hf__inbox_close(&ear->inbox);
        hf__server_release(ear->server);
        hf__free(ear);
    }
}

void hf__cluster_ears_done(hf__cluster_ears *ears)
{
    pthread_mutex_destroy(&ears->mutex);
}

void hf__cluster_ears_abandon(hf__cluster_ears *ears)
{
    hf__cluster_ear *ear;

    while ((ear = ears->first) != NULL) {
        ears->first = ear->next;
        hf__inbox_abandon(&ear->inbox);
        hf__free(ear);
    }
}
