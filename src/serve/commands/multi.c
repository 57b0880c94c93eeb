/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multi.c - see multi.h.
 *
 * Requests after MULTI are checked and copied to the end of a queue, and EXEC
 * runs them as one unit of a round. As the round may be undone, what EXEC has
 * run stays in the queue until the commit.
 *
 * WATCH remembers the stamps of its keys in the file of changes. A commit of
 * any process moves them, and EXEC compares them when it has the writer lock;
 * what other units of its round have changed before is in the notes of the
 * transaction. WATCH runs while no transaction is open: what its connection
 * reads afterwards is then not older than the stamps. Keys that share a stamp
 * may make an EXEC fail in vain.
 */
#include "serve/commands/multi.h"

#include <string.h>

#include "engine/engine.h"
#include "serve/commands/unit.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* An empty buffer that has more is freed. */
#define KEEP_SIZE (4u * 1024)

/* Writers are to note changes until so long after the last watch, ms. */
#define LINGER_MS 5000

/* Of a queued request; its words follow, each after its size. */
typedef struct queued {
    const hf__served *served;
    const hf__command *command; /* if that is NULL */
    size_t count;
} queued;

/* Of a watched key, which follows. */
typedef struct watched_key {
    uint32_t bucket;
    uint32_t stamp;
    uint32_t flushes;
    bool existed;
    uint8_t database;
    size_t size;
} watched_key;

static hf__multi *multi_of(hf__conn *conn)
{
    if (conn->multi != NULL)
        return conn->multi;
    conn->multi = hf__calloc(1, sizeof(*conn->multi));
    if (conn->multi == NULL) {
        hf__answer_error(&conn->answer, "ERR out of memory");
        return NULL;
    }
    hf__buf_init(&conn->multi->queue,
                 (size_t)conn->server->options.request_max);
    hf__buf_init(&conn->multi->watches,
                 (size_t)conn->server->options.request_max);
    return conn->multi;
}

static void trim_queue(hf__buf *buf)
{
    if (hf__buf_size(buf) == 0 && buf->capacity > KEEP_SIZE)
        hf__buf_done(buf);
}

/* ------------------------------------------------------------------ queuing */

static bool put_words(hf__buf *buf, const hf_bytes *words, size_t count)
{
    bool fits = true;

    for (size_t i = 0; i < count && fits; i++)
        fits = hf__buf_append(buf, &words[i].size, sizeof(words[i].size)) &&
               hf__buf_append(buf, words[i].data, words[i].size);
    return fits;
}

void hf__multi_put(hf__conn *conn, const hf__served *served,
                   const hf__command *command, const hf_bytes *words,
                   size_t count)
{
    const queued head = {served, command, count};
    hf__multi *multi = conn->multi;

    if (multi->now.aborted) {
        hf__answer_line(&conn->answer, "QUEUED");
        return;
    }
    if (!hf__buf_append(&multi->queue, &head, sizeof(head)) ||
        !put_words(&multi->queue, words, count)) {
        hf__buf_truncate(&multi->queue, multi->now.size);
        hf__answer_error(&conn->answer, "ERR the transaction is too large");
        hf__multi_abort(conn);
        return;
    }
    multi->now.size = hf__buf_size(&multi->queue);
    multi->now.count++;
    if (command == NULL || (command->flags & HF__COMMAND_WRITES) != 0)
        multi->now.writes = true;
    if (command != NULL && hf__unit_changes(command, words, count))
        multi->now.changes = true;
    hf__answer_line(&conn->answer, "QUEUED");
}

void hf__multi_abort(hf__conn *conn)
{
    conn->multi->now.aborted = true;
}

/* The transaction is over, and so are the watches. */
static void end_multi(hf__multi *multi)
{
    multi->now = (hf__multi_state){
        .spent = true, .from = multi->now.size, .size = multi->now.size};
}

static void run_multi(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__multi *multi = multi_of(conn);

    (void)words;
    (void)count;
    if (multi == NULL)
        return;
    if (multi->now.open) {
        hf__answer_error(&conn->answer, "ERR MULTI calls can not be nested");
        return;
    }
    multi->now.open = true;
    hf__answer_line(&conn->answer, "OK");
}

static void run_discard(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    if (!hf__multi_is_open(conn)) {
        hf__answer_error(&conn->answer, "ERR DISCARD without MULTI");
        return;
    }
    end_multi(conn->multi);
    hf__answer_line(&conn->answer, "OK");
}

/* ----------------------------------------------------------------- watching */

static void close_later(hf_server *server)
{
    hf__tick_set(hf__loop_poller(server->loop), &server->watch_tick,
                 hf__clock_boot_ms() + LINGER_MS);
}

static void close_stamps(hf__tick *tick)
{
    hf_server *server = tick->user;

    if (server->watching > 0 || server->stamps == NULL)
        return;
    server->store->ops->stamps_close(server->store);
    server->stamps = NULL;
}

static void drop_watches(hf__conn *conn)
{
    hf__multi *multi = conn->multi;

    multi->now.spent = false;
    if (multi->watch_count == 0)
        return;
    multi->watch_count = 0;
    hf__buf_clear(&multi->watches);
    trim_queue(&multi->watches);
    if (--conn->server->watching == 0)
        close_later(conn->server);
}

static bool open_stamps(hf__conn *conn)
{
    hf_server *server = conn->server;
    hf_error error = HF_ERROR_INIT;

    if (server->stamps != NULL ||
        server->store->ops->stamps_open(server->store, server->deadline_ms,
                                        &server->stamps, &error) == HF_OK)
        return true;
    hf__unit_fail(conn, &error);
    return false;
}

static bool add_watches(hf__conn *conn, const hf_bytes *keys, size_t count)
{
    hf__multi *multi = conn->multi;
    const uint32_t *stamps = conn->server->stamps;
    bool fits = true;

    for (size_t i = 0; i < count && fits; i++) {
        uint32_t bucket = hf__stamp_of(conn->database, keys[i]);
        watched_key head = {
            .bucket = bucket, .database = conn->database, .size = keys[i].size};

        head.stamp = __atomic_load_n(&stamps[bucket], __ATOMIC_SEQ_CST);
        head.flushes = hf__embedded_flushes(conn->server->store);

        fits = hf__buf_append(&multi->watches, &head, sizeof(head)) &&
               hf__buf_append(&multi->watches, keys[i].data, keys[i].size);
    }
    if (fits && multi->watch_count == 0)
        conn->server->watching++;
    if (fits)
        multi->watch_count += count;
    else
        hf__answer_error(&conn->answer, "ERR too many watched keys");
    return fits;
}

/* The watched key at `at`; returns where the next one is. */
static unsigned char *read_watch(unsigned char *at, watched_key *head,
                                 hf_bytes *key)
{
    memcpy(head, at, sizeof(*head));
    *key = hf_view(at + sizeof(*head), head->size);
    return at + sizeof(*head) + head->size;
}

/* Which of the keys exist? From `at` on in the watches. */
static void find_keys(hf__conn *conn, size_t from)
{
    hf__tx *tx = conn->server->round.tx;
    hf__buf *watches = &conn->multi->watches;
    unsigned char *at = hf__buf_front(watches) + from;
    const unsigned char *stop = hf__buf_front(watches) + hf__buf_size(watches);

    while (at < stop) {
        unsigned char *here = at;
        watched_key head;
        hf_bytes key;

        at = read_watch(at, &head, &key);
        hf__tx_trim(tx);
        tx->database = head.database;
        head.existed = hf__key_find(tx, key) != NULL;
        memcpy(here, &head, sizeof(head));
    }
}

/* No transaction is open, nor is one afterwards. */
static bool look_at_keys(hf__conn *conn, size_t from)
{
    hf_server *server = conn->server;
    hf_error error = HF_ERROR_INIT;
    hf_status status = hf__command_round_enter(&server->round, false,
                                               server->deadline_ms, &error);

    if (status == HF_OK) {
        find_keys(conn, from);
        status =
            hf__command_round_end(&server->round, server->deadline_ms, &error);
    }
    if (status != HF_OK)
        hf__unit_fail(conn, &error);
    return status == HF_OK;
}

/* To what there was before: their size and count. */
static void take_back_watches(hf__conn *conn, size_t size, size_t count)
{
    hf__multi *multi = conn->multi;

    hf__buf_truncate(&multi->watches, size);
    if (count == 0)
        drop_watches(conn);
    else
        multi->watch_count = count;
}

static void run_watch(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__multi *multi = multi_of(conn);
    size_t size, before;

    if (multi == NULL)
        return;
    if (multi->now.open) {
        hf__answer_error(&conn->answer,
                         "ERR WATCH inside MULTI is not allowed");
        return;
    }
    size = hf__buf_size(&multi->watches);
    before = multi->watch_count;
    if (open_stamps(conn) && add_watches(conn, words + 1, count - 1) &&
        look_at_keys(conn, size))
        hf__answer_line(&conn->answer, "OK");
    else
        take_back_watches(conn, size, before);
}

/* Within an EXEC there is nothing left to do. */
static void run_unwatch(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    if (conn->multi != NULL && !conn->multi->now.open)
        drop_watches(conn);
    hf__answer_line(&conn->answer, "OK");
}

static bool is_changed(const hf_server *server, hf__tx *tx,
                       const watched_key *head, hf_bytes key)
{
    uint32_t stamp =
        __atomic_load_n(&server->stamps[head->bucket], __ATOMIC_SEQ_CST);

    /* A key that did not exist is not changed by a FLUSHALL. */
    if (!head->existed)
        stamp -= 2 * (hf__embedded_flushes(server->store) - head->flushes);
    if (stamp != head->stamp || (stamp & 1) || hf__note_has(tx, head->bucket))
        return true;
    tx->database = head->database;
    /* It has expired, or was removed by a FLUSHALL of this round. */
    return head->existed && hf__key_find(tx, key) == NULL;
}

/* The transaction writes, so the stamps do not move any more. */
static bool any_changed(hf__conn *conn)
{
    hf_server *server = conn->server;
    hf__tx *tx = server->round.tx;
    unsigned char *at = hf__buf_front(&conn->multi->watches);
    bool changed = !hf__tx_flush(tx) || !hf__tx_notes(tx, HF__RING_CHANGES);

    for (size_t i = 0; i < conn->multi->watch_count && !changed; i++) {
        watched_key head;
        hf_bytes key;

        at = read_watch(at, &head, &key);
        hf__tx_trim(tx);
        changed = is_changed(server, tx, &head, key);
    }
    if (tx->fatal != HF_OK)
        server->broken = tx->error;
    return changed;
}

/* --------------------------------------------------------------------- EXEC */

/* The next request of the queue; returns where its words end. */
static const unsigned char *read_queued(const unsigned char *at, queued *head,
                                        hf_server *server)
{
    hf_bytes *words;

    memcpy(head, at, sizeof(*head));
    at += sizeof(*head);
    words = hf__unit_words(server, head->count);
    for (size_t i = 0; i < head->count && words != NULL; i++) {
        memcpy(&words[i].size, at, sizeof(words[i].size));
        at += sizeof(words[i].size);
        words[i].data = at;
        at += words[i].size;
    }
    return words == NULL ? NULL : at;
}

/* A command that did not fit: the others are undone with it. */
static void undo_if_full(hf__conn *conn)
{
    hf__tx *tx = conn->server->round.tx;

    if (!conn->answer.out.failed ||
        strncmp(conn->answer.out.error, "OOM ", 4) != 0 || tx->fatal != HF_OK)
        return;
    tx->fatal = hf__fail(&tx->error, HF_FULL, "the store is full");
    conn->server->broken = tx->error;
}

static bool run_queued(hf__conn *conn, const queued *head)
{
    hf_server *server = conn->server;

    (void)hf__conn_answer(conn);
    if (server->monitors.count > 0)
        hf__monitor_put(conn, false, server->words, head->count);
    if (head->served != NULL)
        head->served->run(conn, server->words, head->count);
    else
        hf__unit_run(conn, head->command, server->words, head->count);
    undo_if_full(conn);
    if (conn->answer.out.failed)
        hf__conn_count_error(conn, conn->answer.out.error);
    return hf__answer_end(&conn->answer);
}

static void run_queue(hf__conn *conn)
{
    hf_server *server = conn->server;
    hf__multi *multi = conn->multi;
    size_t from = conn->answer.from;
    const unsigned char *at;
    bool has_room = true;
    queued head;

    hf__answer_array(&conn->answer, multi->now.count);
    if (multi->now.count == 0)
        return;
    at = hf__buf_front(&multi->queue) + multi->now.from;
    for (size_t i = 0;
         i < multi->now.count && has_room && server->broken.status == HF_OK;
         i++) {
        at = read_queued(at, &head, server);
        has_room = at != NULL && run_queued(conn, &head);
    }
    server->stats.commands += multi->now.count;
    hf__conn_answer(conn)->no_room = !has_room;
    conn->answer.from = from;
}

static void run_unit(hf__conn *conn)
{
    const hf__multi *multi = conn->multi;
    bool watches = multi->watch_count > 0 && !multi->now.spent;

    if (!hf__unit_begin(conn, multi->now.writes || watches))
        return;
    conn->server->in_exec = true;
    if (watches && any_changed(conn))
        hf__answer_nil_array(&conn->answer);
    else
        run_queue(conn);
    conn->server->in_exec = false;
}

static void run_exec(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    if (!hf__multi_is_open(conn)) {
        hf__answer_error(&conn->answer, "ERR EXEC without MULTI");
        return;
    }
    if (conn->multi->now.aborted)
        hf__answer_error(&conn->answer, "EXECABORT Transaction discarded "
                                        "because of previous errors.");
    else
        run_unit(conn);
    end_multi(conn->multi);
}

void hf__multi_refused(hf__conn *conn, const hf__served *served)
{
    hf__out *out = &conn->answer.out;
    char why[HF__OUT_ERROR_SIZE];

    hf__multi_abort(conn);
    if (served == NULL || served->run != run_exec)
        return;
    memcpy(why, out->error, sizeof(why));
    out->failed = false;
    hf__answer_error(&conn->answer,
                     "EXECABORT Transaction discarded because of: %s",
                     strncmp(why, "ERR ", 4) == 0 ? why + 4 : why);
    end_multi(conn->multi);
}

/* ---------------------------------------------------------- marks, and life */

static void mark_queue(hf__conn *conn)
{
    hf__multi *multi = conn->multi;

    if (multi == NULL)
        return;
    if (multi->now.spent)
        drop_watches(conn);
    hf__buf_consume(&multi->queue, multi->now.from);
    trim_queue(&multi->queue);
    multi->now.from = 0;
    multi->now.size = hf__buf_size(&multi->queue);
    multi->mark = multi->now;
}

static void rewind_to_mark(hf__conn *conn)
{
    hf__multi *multi = conn->multi;

    if (multi == NULL)
        return;
    multi->now = multi->mark;
    hf__buf_truncate(&multi->queue, multi->now.size);
}

void hf__multi_reset(hf__conn *conn)
{
    if (conn->multi == NULL)
        return;
    end_multi(conn->multi);
    mark_queue(conn);
}

static void free_multi(hf__conn *conn)
{
    if (conn->multi == NULL)
        return;
    drop_watches(conn);
    hf__buf_done(&conn->multi->queue);
    hf__buf_done(&conn->multi->watches);
    hf__free(conn->multi);
    conn->multi = NULL;
}

const hf__part hf__multi_part = {
    .freed = free_multi, .mark = mark_queue, .rewind = rewind_to_mark};

void hf__multi_open_server(hf_server *server)
{
    server->watch_tick.ring = close_stamps;
    server->watch_tick.user = server;
}

void hf__multi_close_server(hf_server *server)
{
    hf__tick_stop(&server->watch_tick);
    close_stamps(&server->watch_tick);
}

const hf__served_entry hf__served_multi[] = {
    {"multi", HF__SERVED_UNIT | HF__SERVED_AT_ONCE, run_multi},
    {"exec", HF__SERVED_UNIT | HF__SERVED_AT_ONCE, run_exec},
    {"discard", HF__SERVED_UNIT | HF__SERVED_AT_ONCE, run_discard},
    {"watch", HF__SERVED_AT_ONCE | HF__SERVED_EARLY, run_watch},
    {"unwatch", HF__SERVED_IN_EXEC, run_unwatch},
    {NULL, 0, NULL}};
