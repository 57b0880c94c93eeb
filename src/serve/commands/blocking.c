/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking.c - see blocking.h.
 *
 *  1. A blocking command runs as a unit. If it finds nothing, its connection
 *     waits: it runs no further requests, and it is in the queues of its keys.
 *  2. When a unit has made keys (tx->made), they are looked at in their order,
 *     and the waiters of each in theirs: the command runs once more, with this
 *     key only, in the same transaction. That may make further keys.
 *  3. At the commit, those that were served get their replies, and leave the
 *     queues. If the round is undone, they have not been served, and those that
 *     began to wait in it do not wait.
 *
 * While connections wait, and for a while after, a feed reports what other
 * processes write. The next round then begins with a look at these keys. The
 * feed is opened before the command runs, so no write is missed.
 */
#include "serve/commands/blocking.h"

#include <stdint.h>
#include <string.h>

#include "serve/commands/unit.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"

/* The feed stays open for so long after the last wait, ms. */
#define LINGER_MS 5000

/* When those that could not be served are looked at again, ms. */
#define RETRY_MS 1000

/* ----------------------------------------------------------------------- feed
 */

static void look_soon(hf_server *server)
{
    if (server->blocking.table.first[HF__WAIT_CHANGED] != NULL)
        hf__tick_set(hf__loop_poller(server->loop), &server->tick, 0);
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes name)
{
    hf__blocking *blocking = hf__container_of(feed, hf__blocking, feed);
    hf__wait_key *key;

    if (kind == HF_CHANGE_GAP) {
        hf__wait_put_all(&blocking->table, HF__WAIT_CHANGED);
    } else {
        key = hf__wait_find(&blocking->table, feed->changed_in, name);
        if (key != NULL)
            hf__wait_put(&blocking->table, HF__WAIT_CHANGED, key);
    }
    look_soon(hf__container_of(blocking, hf_server, blocking));
}

static void retry_blocked(hf__tick *tick)
{
    hf_server *server = tick->user;

    hf__wait_put_all(&server->blocking.table, HF__WAIT_CHANGED);
    look_soon(server);
}

void hf__blocking_retry(hf_server *server)
{
    hf__tick_set(hf__loop_poller(server->loop), &server->blocking.retry_tick,
                 0);
}

static void close_later(hf_server *server)
{
    hf__tick_set(hf__loop_poller(server->loop), &server->blocking.close_tick,
                 hf__clock_boot_ms() + LINGER_MS);
}

static void close_feed(hf__tick *tick)
{
    hf_server *server = tick->user;
    hf__blocking *blocking = &server->blocking;

    if (blocking->count > 0 || !blocking->open)
        return;
    server->store->ops->feed_close(server->store, &blocking->feed);
    blocking->open = false;
}

bool hf__blocking_may_run(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;

    blocking->wanted = !blocking->open && blocking->error.status == HF_OK;
    return !blocking->wanted;
}

void hf__blocking_prepare(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;
    hf__store *store = server->store;

    if (!blocking->wanted)
        return;
    blocking->wanted = false;
    blocking->open =
        store->ops->feed_open(store, &blocking->feed, server->deadline_ms,
                              &blocking->error) == HF_OK;
    if (blocking->open)
        close_later(server);
}

/* ------------------------------------------------------------------ deadlines
 */

static void set_tick(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;
    const hf__heap_node *first = hf__heap_first(&blocking->deadlines);

    if (first == NULL)
        hf__tick_stop(&blocking->tick);
    else if (blocking->tick.link == NULL ||
             blocking->tick.at_ms != first->at_ms)
        hf__tick_set(hf__loop_poller(server->loop), &blocking->tick,
                     first->at_ms);
}

static void on_deadline(hf__tick *tick)
{
    hf_server *server = tick->user;
    hf__blocking *blocking = &server->blocking;
    int64_t now_ms = hf__clock_boot_ms();
    hf__heap_node *first;

    while ((first = hf__heap_first(&blocking->deadlines)) != NULL &&
           first->at_ms <= now_ms)
        (void)hf__blocking_end(hf__container_of(first, hf__waiter, node)->conn,
                               NULL);
    set_tick(server);
}

/* ---------------------------------------------------------------------- waits
 */

static void touch_waiter(hf__blocking *blocking, hf__waiter *waiter)
{
    if (waiter->touched)
        return;
    waiter->touched = true;
    waiter->next_touched = blocking->touched;
    blocking->touched = waiter;
}

/* The connection does not wait any more. */
static void drop_waiter(hf__waiter *waiter)
{
    hf__conn *conn = waiter->conn;
    hf_server *server = conn->server;
    hf__blocking *blocking = &server->blocking;

    hf__wait_remove(&blocking->table, waiter);
    hf__heap_remove(&blocking->deadlines, &waiter->node);
    hf__waiter_free(waiter);
    conn->waiter = NULL;
    if (--blocking->count > 0)
        return;
    server->made = NULL;
    close_later(server);
}

static void on_made(hf__tx *tx, hf_bytes name)
{
    hf_server *server = tx->made_user;
    hf__wait_key *key =
        hf__wait_find(&server->blocking.table, tx->database, name);

    if (key != NULL)
        hf__wait_put(&server->blocking.table, HF__WAIT_MADE, key);
    if (name.data == NULL)
        hf__wait_put_all(&server->blocking.table, HF__WAIT_MADE);
}

static bool add_waiter(hf__blocking *blocking, hf__waiter *waiter)
{
    int64_t wait_ms = waiter->block.wait_ms;

    if (!hf__heap_reserve(&blocking->deadlines, blocking->count + 1) ||
        !hf__wait_add(&blocking->table, waiter))
        return false;
    blocking->count++;
    waiter->conn->server->made = on_made;
    waiter->conn->waiter = waiter;
    waiter->began = true;
    touch_waiter(blocking, waiter);
    if (wait_ms > 0)
        hf__heap_put(&blocking->deadlines, &waiter->node,
                     hf__clock_after(hf__clock_boot_ms(), wait_ms));
    return true;
}

/* Those that wait for a stream get an error when it expires. */
static void watch_expiry(hf_server *server, const hf__record *record)
{
    hf__tick *tick = &server->blocking.expiry_tick;
    int64_t at_ms;

    if (record == NULL || record->type != HF__TYPE_STREAM ||
        record->expire_ms == 0)
        return;
    at_ms = hf__clock_after(hf__clock_boot_ms(),
                            record->expire_ms - server->round.tx->now_ms);
    if (tick->link == NULL || tick->at_ms > at_ms)
        hf__tick_set(hf__loop_poller(server->loop), tick, at_ms);
}

/* The key as it is now. NULL: it does not exist, or fatal. */
static hf__record *find_key(hf_server *server, const hf__wait_key *key)
{
    hf__tx *tx = server->round.tx;
    hf__record *record;

    hf__tx_trim(tx);
    tx->database = key->database;
    record = hf__key_find(tx, hf_view(key->bytes, key->size));
    if (tx->fatal != HF_OK)
        server->broken = tx->error;
    watch_expiry(server, record);
    return record;
}

void hf__blocking_begin(hf__conn *conn, const hf__command *command,
                        const hf_bytes *words, size_t count)
{
    hf_server *server = conn->server;
    const hf__block *block = &server->round.tx->block;
    hf__waiter *waiter;

    if (server->broken.status != HF_OK || !block->blocked)
        return;
    hf__buf_truncate(&conn->out, conn->answer.from);
    (void)hf__conn_answer(conn);
    if (!server->blocking.open) {
        hf__unit_fail(conn, &server->blocking.error);
        server->blocking.error.status = HF_OK;
        return;
    }
    waiter = hf__waiter_new(conn, command, block, words, count);
    if (waiter != NULL && add_waiter(&server->blocking, waiter)) {
        for (size_t i = 0; block->gone != NULL && i < waiter->link_count; i++)
            (void)find_key(server, waiter->links[i].key);
        return;
    }
    if (waiter != NULL)
        hf__waiter_free(waiter);
    hf__answer_error(&conn->answer, "OOM out of memory");
}

/* false: no room for it. */
static bool end_reply(hf__conn *conn)
{
    if (conn->answer.out.failed)
        hf__conn_count_error(conn, conn->answer.out.error);
    if (!hf__answer_end(&conn->answer))
        return false;
    if (conn->mute == HF__MUTE_ALL)
        hf__buf_truncate(&conn->out, conn->answer.from);
    return true;
}

/* Write the reply, and run the requests that came meanwhile. */
static void resume_conn(hf__conn *conn)
{
    hf__conn_write(conn);
    hf__conn_wake(conn);
}

bool hf__blocking_end(hf__conn *conn, const char *error)
{
    if (conn->waiter == NULL || conn->waiter->touched)
        return false;
    if (error != NULL)
        hf__usage_fail_call(&conn->server->usage, conn->waiter->command->name);
    drop_waiter(conn->waiter);
    (void)hf__conn_answer(conn);
    if (error != NULL)
        hf__answer_error(&conn->answer, "%s", error);
    else
        hf__answer_nil_array(&conn->answer);
    if (end_reply(conn))
        resume_conn(conn);
    else
        hf__conn_close(conn);
    return true;
}

static void leave_waiters(hf__conn *conn)
{
    hf__waiter **at = &conn->server->blocking.touched;

    if (conn->waiter == NULL)
        return;
    while (*at != NULL && *at != conn->waiter)
        at = &(*at)->next_touched;
    if (*at != NULL)
        *at = (*at)->next_touched;
    drop_waiter(conn->waiter);
}

const hf__part hf__blocking_part = {.closed = leave_waiters};

/* -------------------------------------------------------------------- serving
 */

/* Of the first of its keys that is this one. */
static hf_bytes id_of(const hf__waiter *waiter, const hf__wait_key *key)
{
    const hf_bytes *keys = waiter->words + waiter->block.first;
    size_t i = 0;

    while (
        i + 1 < waiter->block.count &&
        (keys[i].size != key->size ||
         (key->size > 0 && memcmp(keys[i].data, key->bytes, key->size) != 0)))
        i++;
    return waiter->block.ids[i];
}

/* The words of the request, with one of its keys. NULL: no memory. */
static hf_bytes *words_of(const hf__waiter *waiter, const hf__wait_key *key,
                          size_t *count)
{
    hf_bytes *words = hf__unit_words(waiter->conn->server, waiter->count);
    const hf__block *block = &waiter->block;
    size_t after = block->first + block->count;

    if (words == NULL)
        return NULL;
    for (size_t i = 0; i < block->first; i++)
        words[i] = waiter->words[i];
    if (block->counted)
        words[block->first - 1] = hf_str("1");
    words[block->first] = hf_view(key->bytes, key->size);
    if (block->ids != NULL) {
        words[block->first + 1] = id_of(waiter, key);
        *count = block->first + 2;
        return words;
    }
    for (size_t i = after; i < waiter->count; i++)
        words[block->first + 1 + i - after] = waiter->words[i];
    *count = waiter->count - block->count + 1;
    return words;
}

static void serve_one(hf__waiter *waiter, const hf__wait_key *key)
{
    hf__conn *conn = waiter->conn;
    hf_server *server = conn->server;
    size_t count;
    const hf_bytes *words = words_of(waiter, key, &count);

    if (words == NULL) {
        (void)hf__fail(&server->broken, HF_NO_MEMORY, "out of memory");
        return;
    }
    waiter->mark_out = hf__buf_size(&conn->out);
    (void)hf__conn_answer(conn);
    hf__unit_run(conn, waiter->command, words, count);
    hf__usage_again(&server->usage, waiter->command->name);
    if (server->broken.status != HF_OK || server->round.tx->block.blocked) {
        hf__buf_truncate(&conn->out, waiter->mark_out);
        return;
    }
    waiter->no_room = !end_reply(conn);
    waiter->served = true;
    touch_waiter(&server->blocking, waiter);
}

/* Its key, a stream, has gone. */
static void refuse_one(hf__waiter *waiter)
{
    hf__conn *conn = waiter->conn;

    waiter->mark_out = hf__buf_size(&conn->out);
    (void)hf__conn_answer(conn);
    hf__answer_error(&conn->answer, "%s", waiter->block.gone);
    hf__usage_fail_call(&conn->server->usage, waiter->command->name);
    waiter->no_room = !end_reply(conn);
    waiter->served = true;
    touch_waiter(&conn->server->blocking, waiter);
}

static bool is_same_group(const hf__waiter *a, const hf__waiter *b)
{
    hf_bytes one, other;

    if (a->block.group == 0 || b->block.group == 0)
        return false;
    one = a->words[a->block.group];
    other = b->words[b->block.group];
    return hf__bytes_same(one, other);
}

/* Would its command find something in the key, which has the type? Many may
 * wait, and most changes are for none of them: `*idle` is one that has found
 * nothing, or NULL. */
static bool may_serve(hf_server *server, const hf__wait_key *key,
                      hf__record *record, const hf__waiter *waiter,
                      const hf__waiter **idle)
{
    const hf__block *block = &waiter->block;
    hf__tx *tx = server->round.tx;
    bool ready;

    if (block->ready == NULL)
        return true;
    if (*idle != NULL && is_same_group(*idle, waiter))
        return false;
    ready = block->ready(tx, record, id_of(waiter, key), block, waiter->words);
    if (tx->fatal != HF_OK)
        server->broken = tx->error;
    if (!ready)
        *idle = waiter;
    return ready && tx->fatal == HF_OK;
}

static void serve_key(hf_server *server, const hf__wait_key *key)
{
    hf__record *record = find_key(server, key);
    const hf__waiter *idle = NULL;

    for (hf__wait_link *link = key->first;
         link != NULL && server->broken.status == HF_OK; link = link->next) {
        hf__waiter *waiter = link->waiter;

        if (waiter->served)
            continue;
        if (record == NULL || record->type != waiter->block.type) {
            if (waiter->block.gone != NULL)
                refuse_one(waiter);
            continue;
        }
        if (!may_serve(server, key, record, waiter, &idle))
            continue;
        serve_one(waiter, key);
        if (server->broken.status == HF_OK)
            record = find_key(server, key);
    }
}

void hf__blocking_serve_made(hf_server *server)
{
    hf__wait_table *table = &server->blocking.table;
    hf__wait_key *key;

    while ((key = table->first[HF__WAIT_MADE]) != NULL &&
           server->broken.status == HF_OK) {
        serve_key(server, key);
        hf__wait_take(table, HF__WAIT_MADE);
    }
}

/* Is there something for a waiter of the key? */
static bool is_ready(hf_server *server, const hf__wait_key *key)
{
    hf__record *record = find_key(server, key);
    const hf__waiter *idle = NULL;

    for (const hf__wait_link *link = key->first;
         link != NULL && server->broken.status == HF_OK; link = link->next) {
        const hf__waiter *waiter = link->waiter;

        if (record == NULL || record->type != waiter->block.type) {
            if (waiter->block.gone != NULL)
                return true;
            continue;
        }
        if (may_serve(server, key, record, waiter, &idle))
            return true;
    }
    return false;
}

static bool any_ready(hf_server *server)
{
    const hf__wait_key *key = server->blocking.table.first[HF__WAIT_CHANGED];

    for (; key != NULL; key = key->next_in[HF__WAIT_CHANGED]) {
        if (is_ready(server, key))
            return true;
    }
    return false;
}

void hf__blocking_look(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;
    const hf__wait_key *key = blocking->table.first[HF__WAIT_CHANGED];

    if (key == NULL || server->pause.until_ms != 0 ||
        (server->failure.status != HF_OK && server->unit_conn != NULL))
        return;
    server->unit_count++;
    server->unit_conn = NULL;
    if (server->failure.status != HF_OK) {
        server->failure.status = HF_OK;
        hf__tick_set(hf__loop_poller(server->loop), &blocking->retry_tick,
                     hf__clock_boot_ms() + RETRY_MS);
        return;
    }
    if (!hf__unit_enter(server, false) || !any_ready(server) ||
        !hf__unit_enter(server, true))
        return;
    for (; key != NULL && server->broken.status == HF_OK;
         key = key->next_in[HF__WAIT_CHANGED])
        serve_key(server, key);
    hf__blocking_serve_made(server);
}

/* --------------------------------------------------------------------- rounds
 */

void hf__blocking_commit(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;
    hf__waiter *waiter;

    hf__wait_clear(&blocking->table, HF__WAIT_CHANGED);
    while ((waiter = blocking->touched) != NULL) {
        hf__conn *conn = waiter->conn;
        bool no_room = waiter->no_room;

        blocking->touched = waiter->next_touched;
        waiter->touched = waiter->began = false;
        if (!waiter->served)
            continue;
        drop_waiter(waiter);
        if (no_room)
            hf__conn_close(conn);
        else
            resume_conn(conn);
    }
    set_tick(server);
}

void hf__blocking_rewind(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;
    hf__waiter *waiter;

    hf__wait_clear(&blocking->table, HF__WAIT_MADE);
    while ((waiter = blocking->touched) != NULL) {
        blocking->touched = waiter->next_touched;
        waiter->touched = false;
        if (waiter->began) {
            drop_waiter(waiter); /* hf__conn_rewind() has restored its output */
            continue;
        }
        if (waiter->served)
            hf__buf_truncate(&waiter->conn->out, waiter->mark_out);
        waiter->served = waiter->no_room = false;
    }
}

void hf__blocking_open_server(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;

    blocking->error = (hf_error)HF_ERROR_INIT;
    blocking->feed.prefix = hf_str("");
    blocking->feed.all_databases = true;
    blocking->feed.changed = on_changed;
    blocking->tick.ring = on_deadline;
    blocking->close_tick.ring = close_feed;
    blocking->retry_tick.ring = blocking->expiry_tick.ring = retry_blocked;
    blocking->tick.user = blocking->close_tick.user =
        blocking->retry_tick.user = blocking->expiry_tick.user = server;
    hf__heap_init(&blocking->deadlines);
}

void hf__blocking_close_server(hf_server *server)
{
    hf__blocking *blocking = &server->blocking;

    hf__wait_clear(&blocking->table, HF__WAIT_CHANGED);
    hf__tick_stop(&blocking->tick);
    hf__tick_stop(&blocking->close_tick);
    hf__tick_stop(&blocking->retry_tick);
    hf__tick_stop(&blocking->expiry_tick);
    close_feed(&blocking->close_tick);
    hf__heap_done(&blocking->deadlines);
    hf__wait_done(&blocking->table);
}
