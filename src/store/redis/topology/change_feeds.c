/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_feeds.c - see change_feeds.h.
 *
 * 1. A feed is open once every server that has keys has confirmed its prefix.
 *    If one refuses or cannot be reached before, opening fails.
 * 2. When a connection breaks, the feed is broken until all are back; each that
 *    comes back is a gap.
 * 3. In a cluster the parts of a feed follow the slot map. A node that is new
 *    in it may have reported nothing for a while, so it is a gap when it
 *    listens. The map is refreshed every MAP_MS, as nothing else may need it.
 *
 * Everything but the wait for the opening is on the loop thread, without locks.
 */
#include "store/redis/topology/change_feeds.h"

#include <string.h>

#include "store/redis/events/change_conn.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

#define MAP_MS 5000

enum { OPENING, OPEN, FAILED };

typedef struct feed_part {
    hf__change_conn conn; /* first */
    hf__change_feed *feed;
    hf__change_feeds *feeds;
    struct feed_part *next;
    hf__server *server; /* held */
    uint32_t node_id;   /* 0: no cluster */
} feed_part;

struct hf__change_feed {
    hf__feed *to;
    hf__change_feeds *feeds;
    hf__change_feed *next;
    feed_part *parts;
    uint32_t state; /* a futex */
    hf_error error; /* of FAILED */
    int64_t map_ms; /* when the map is to be refreshed */
};

static feed_part *part_of(hf__change_conn *conn)
{
    return hf__container_of(conn, feed_part, conn);
}

static void set_state(hf__change_feed *self, uint32_t state)
{
    __atomic_store_n(&self->state, state, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->state, false);
}

static uint32_t get_state(const hf__change_feed *self)
{
    return __atomic_load_n(&self->state, __ATOMIC_ACQUIRE);
}

static void fail_feed(hf__change_feed *self, const hf_error *error)
{
    (void)hf__fail_copy(&self->error, error);
    set_state(self, FAILED);
}

static bool all_listen(const hf__change_feed *self)
{
    for (const feed_part *one = self->parts; one != NULL; one = one->next) {
        if (!one->conn.listens)
            return false;
    }
    return self->parts != NULL;
}

static void report_gap(const hf__change_feed *self)
{
    self->to->changed(self->to, HF_CHANGE_GAP, hf_view(NULL, 0));
}

static void report_broken(const hf__change_feed *self)
{
    if (self->to->broken != NULL)
        self->to->broken(self->to);
}

/* ------------------------------------------------------------- connections */

static void on_changed(hf__change_conn *conn, hf_change_kind kind, hf_bytes key)
{
    hf__change_feed *self = part_of(conn)->feed;

    self->to->changed(self->to, kind, key);
}

static void on_listening(hf__change_conn *conn)
{
    hf__change_feed *self = part_of(conn)->feed;
    bool whole = all_listen(self);

    if (get_state(self) == OPEN) {
        report_gap(self);
        if (!whole)
            report_broken(self);
    } else if (whole) {
        set_state(self, OPEN);
    }
}

static void on_down(hf__change_conn *conn, bool was_listening)
{
    feed_part *one = part_of(conn);
    hf__change_feed *self = one->feed;

    if (get_state(self) == OPENING)
        fail_feed(self, &conn->conn.error);
    else if (was_listening)
        report_broken(self);
    if (one->feeds->want_map != NULL)
        one->feeds->want_map(one->feeds);
}

static void on_closed(hf__change_conn *conn)
{
    feed_part *one = part_of(conn);
    hf__change_feeds *feeds = one->feeds;

    hf__change_conn_done(&one->conn);
    hf__server_release(one->server);
    hf__free(one);
    __atomic_sub_fetch(&feeds->leaving, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&feeds->leaving, false);
}

static int64_t on_tick(hf__change_conn *conn, int64_t now_ms)
{
    feed_part *one = part_of(conn);
    hf__change_feed *self = one->feed;

    if (one->feeds->want_map == NULL)
        return INT64_MAX;
    if (now_ms >= self->map_ms) {
        self->map_ms = now_ms + MAP_MS;
        one->feeds->want_map(one->feeds);
    }
    return self->map_ms;
}

static const hf__change_conn_ops part_ops = {
    .changed = on_changed,
    .listening = on_listening,
    .down = on_down,
    .closed = on_closed,
    .tick = on_tick,
};

static void close_part(feed_part *one)
{
    __atomic_add_fetch(&one->feeds->leaving, 1, __ATOMIC_RELAXED);
    hf__change_conn_close(&one->conn);
}

/* Takes over the hold of the server. false: no memory. */
static bool add_part(hf__change_feed *self, hf__server *server,
                     uint32_t node_id)
{
    feed_part *one = hf__calloc(1, sizeof(*one));

    if (one == NULL) {
        hf__server_release(server);
        return false;
    }
    hf__change_conn_init(&one->conn, &part_ops, &server->node, self->to->prefix,
                         self->to->kinds);
    one->feed = self;
    one->feeds = self->feeds;
    one->server = server;
    one->node_id = node_id;
    one->next = self->parts;
    self->parts = one;
    return true;
}

/* ----------------------------------------------------------------- cluster */

static bool is_listed(const uint32_t *ids, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

static bool has_part(const hf__change_feed *self, uint32_t id)
{
    const feed_part *one = self->parts;

    while (one != NULL && one->node_id != id)
        one = one->next;
    return one != NULL;
}

/* false: no memory for all. */
static bool add_nodes(hf__change_feed *self, const uint32_t *ids, size_t count)
{
    bool whole = true;

    for (size_t i = 0; i < count; i++) {
        hf__server *server;

        if (has_part(self, ids[i]))
            continue;
        server = hf__cluster_map_part(self->feeds->map, ids[i]);
        whole = server != NULL && add_part(self, server, ids[i]) && whole;
    }
    return whole;
}

/* true: there were some. */
static bool remove_nodes(hf__change_feed *self, const uint32_t *ids,
                         size_t count)
{
    feed_part **place = &self->parts;
    bool any = false;

    while (*place != NULL) {
        feed_part *one = *place;

        if (is_listed(ids, count, one->node_id)) {
            place = &one->next;
            continue;
        }
        *place = one->next;
        close_part(one);
        any = true;
    }
    return any;
}

static bool follow_map(hf__change_feed *self, bool *removed)
{
    uint32_t ids[HF__CLUSTER_NODES_MAX];
    uint32_t covered;
    size_t count = hf__cluster_map_list(self->feeds->map, ids,
                                        HF__CLUSTER_NODES_MAX, &covered);

    *removed = remove_nodes(self, ids, count);
    return add_nodes(self, ids, count);
}

static void update_parts(hf__change_feed *self)
{
    feed_part *one, *next;

    /* One that fails here stays in the list. */
    for (one = self->parts; one != NULL; one = next) {
        next = one->next;
        hf__async_conn_update(&one->conn.conn);
    }
}

static void sync_feed(hf__change_feed *self)
{
    bool was_open = get_state(self) == OPEN;
    bool was_whole = all_listen(self);
    bool removed = false;
    bool whole = follow_map(self, &removed);

    if (was_open && removed)
        report_gap(self);
    if (was_open && (!whole || ((removed || was_whole) && !all_listen(self))))
        report_broken(self);
    if (!whole) /* look again soon */
        self->map_ms = 0;
    if (get_state(self) == OPENING && all_listen(self))
        set_state(self, OPEN);
    update_parts(self);
}

void hf__change_feeds_sync(hf__change_feeds *feeds)
{
    for (hf__change_feed *one = feeds->first; one != NULL; one = one->next)
        sync_feed(one);
}

/* -------------------------------------------------------------------- open */

typedef struct feed_call {
    hf__task base;
    hf__change_feed *self;
} feed_call;

static void run_open(hf__task *task)
{
    hf__change_feed *self = ((feed_call *)(void *)task)->self;
    hf__change_feeds *feeds = self->feeds;
    bool removed;
    bool whole;

    self->next = feeds->first;
    feeds->first = self;
    if (feeds->server != NULL) {
        hf__server_hold(feeds->server);
        whole = add_part(self, feeds->server, 0);
    } else {
        whole = follow_map(self, &removed);
    }
    if (!whole) {
        hf_error error = HF_ERROR_INIT;

        hf__fail(&error, HF_NO_MEMORY, "a watch");
        fail_feed(self, &error);
    }
    update_parts(self);
}

static void run_close(hf__task *task)
{
    hf__change_feed *self = ((feed_call *)(void *)task)->self;
    hf__change_feed **place = &self->feeds->first;
    feed_part *one;

    while (*place != self)
        place = &(*place)->next;
    *place = self->next;
    while ((one = self->parts) != NULL) {
        self->parts = one->next;
        close_part(one);
    }
}

static void run_on_loop(hf__change_feed *self, void (*run)(hf__task *task))
{
    feed_call task = {{run, NULL}, self};

    hf__loop_run(self->feeds->context->loop, &task.base);
}

static hf_status await_open(hf__change_feed *self, int64_t deadline_ms,
                            hf_error *err)
{
    uint32_t state;

    while ((state = get_state(self)) == OPENING) {
        if (hf__clock_boot_ms() >= deadline_ms)
            return hf__fail(err, HF_UNAVAILABLE,
                            "the server did not confirm the watch in time");
        hf__futex_wait(&self->state, OPENING, deadline_ms, false);
    }
    return state == OPEN ? HF_OK : hf__fail_copy(err, &self->error);
}

hf_status hf__change_feeds_open(hf__change_feeds *feeds, hf__feed *feed,
                                int64_t deadline_ms, hf_error *err)
{
    hf__change_feed *self;
    hf_status status;

    if (hf__store_context_is_forked(feeds->context))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    status = hf__loop_start(feeds->context->loop, err);
    if (status != HF_OK)
        return status;
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a watch");
    self->to = feed;
    self->feeds = feeds;
    self->error = (hf_error)HF_ERROR_INIT;
    self->map_ms = hf__clock_boot_ms() + MAP_MS;
    feed->driver = self;
    run_on_loop(self, run_open);
    status = await_open(self, deadline_ms, err);
    if (status == HF_OK)
        return HF_OK;
    run_on_loop(self, run_close);
    hf__free(self);
    return status;
}

void hf__change_feeds_close(hf__change_feeds *feeds, hf__feed *feed)
{
    hf__change_feed *self = feed->driver;

    if (hf__store_context_is_forked(feeds->context))
        return;
    run_on_loop(self, run_close);
    hf__free(self);
}

/* -------------------------------------------------------------------- life */

void hf__change_feeds_init(hf__change_feeds *feeds, hf__store_context *context,
                           hf__server *server, hf__cluster_map *map)
{
    memset(feeds, 0, sizeof(*feeds));
    feeds->context = context;
    feeds->server = server;
    feeds->map = map;
    atomic_init(&feeds->reset_posted, false);
}

static void run_reset(hf__task *task)
{
    hf__change_feeds *feeds =
        hf__container_of(task, hf__change_feeds, reset_task);

    atomic_store(&feeds->reset_posted, false);
    for (hf__change_feed *one = feeds->first; one != NULL; one = one->next)
        update_parts(one);
}

void hf__change_feeds_reset(hf__change_feeds *feeds)
{
    if (!hf__loop_started(feeds->context->loop) ||
        atomic_exchange(&feeds->reset_posted, true))
        return;
    feeds->reset_task.run = run_reset;
    hf__loop_post(feeds->context->loop, &feeds->reset_task);
}

void hf__change_feeds_drain(hf__change_feeds *feeds)
{
    uint32_t leaving;

    /* `reset_task` comes first, if it is posted. */
    if (hf__loop_started(feeds->context->loop))
        hf__loop_call(feeds->context->loop, NULL);
    while ((leaving = __atomic_load_n(&feeds->leaving, __ATOMIC_ACQUIRE)) != 0)
        hf__futex_wait(&feeds->leaving, leaving, INT64_MAX, false);
}

void hf__change_feeds_close_forked(hf__change_feeds *feeds)
{
    for (hf__change_feed *self = feeds->first; self != NULL;
         self = self->next) {
        for (feed_part *one = self->parts; one != NULL; one = one->next)
            hf__async_conn_close_forked(&one->conn.conn);
    }
}
