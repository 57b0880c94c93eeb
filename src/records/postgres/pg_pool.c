/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_pool.c - the connections that run calls, and the calls that wait for one.
 *
 * A connection has one query at a time. A call is sent on the first that is
 * free; if none is, another is made, up to HF__PG_CONNS. One whose call is not
 * answered by its deadline is cancelled, and closed: its answer would be taken
 * for that of the next call.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "records/postgres/pg_backend.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"

static void on_ready(hf__poll *poll, int events);
static void on_deadline(hf__tick *tick);

static void set_outcome(hf__backend_call *call, hf__backend_outcome outcome,
                        hf_status status, const char *why)
{
    call->outcome = outcome;
    call->status = hf__fail(&call->error, status, "%s", why);
}

/* ------------------------------------------------------------------- queue */

static void put_last(hf__pg_backend *self, hf__backend_call *call)
{
    call->backend = NULL;
    *self->end = call;
    self->end = (hf__backend_call **)&call->backend;
    /* The tick rings no later than the first of the deadlines. */
    if (self->queue_tick.link == NULL ||
        call->deadline_ms < self->queue_tick.at_ms)
        hf__tick_set(self->config.poller, &self->queue_tick, call->deadline_ms);
}

static hf__backend_call *take_first(hf__pg_backend *self)
{
    hf__backend_call *call = self->first;

    self->first = call->backend;
    if (self->first == NULL)
        self->end = &self->first;
    return call;
}

/* Its outcome is set, but this is within the caller's function. */
static void refuse_later(hf__pg_backend *self, hf__backend_call *call)
{
    call->backend = self->refused;
    self->refused = call;
    hf__tick_set(self->config.poller, &self->queue_tick, hf__clock_boot_ms());
}

/* Complete what was refused, and what waits and is due by then. */
static void fail_queue(hf__pg_backend *self, int64_t due_ms, hf_status status,
                       const char *why)
{
    hf__backend_call *lists[] = {self->refused, self->first};

    self->refused = NULL;
    self->first = NULL;
    self->end = &self->first;
    for (size_t i = 0; i < 2; i++) {
        while (lists[i] != NULL) {
            hf__backend_call *call = lists[i];

            lists[i] = call->backend;
            if (i == 1 && call->deadline_ms > due_ms) {
                put_last(self, call);
                continue;
            }
            if (i == 1)
                set_outcome(call, HF__BACKEND_FAILED, status, why);
            call->done(call);
        }
    }
}

static void expire_queue(hf__tick *tick)
{
    fail_queue(hf__container_of(tick, hf__pg_backend, queue_tick),
               hf__clock_boot_ms(), HF_UNAVAILABLE,
               "no connection to PostgreSQL by the deadline");
}

/* ------------------------------------------------------------- connections */

/* Without the connection, which is returned. */
static PGconn *free_conn(hf__pg_conn *conn)
{
    PGconn *pg = conn->pg;

    hf__tick_stop(&conn->tick);
    if (conn->poll.added)
        hf__poll_stop(conn->self->config.poller, &conn->poll);
    close(conn->poll.fd);
    conn->pg = NULL;
    conn->busy = false;
    conn->call = NULL;
    return pg;
}

static void drop_conn(hf__pg_conn *conn)
{
    PQfinish(free_conn(conn));
}

/* The connection is gone, and with it the answer. */
static void break_conn(hf__pg_conn *conn, hf_status status, const char *why)
{
    hf__backend_call *call = conn->call;

    drop_conn(conn);
    if (call == NULL)
        return;
    set_outcome(call, hf__pg_unanswered(call), status, why);
    call->done(call);
}

/* false: it is broken. */
static bool watch_conn(hf__pg_conn *conn)
{
    int left = PQflush(conn->pg);

    return left >= 0 && hf__poll_watch(conn->self->config.poller, &conn->poll,
                                       left > 0 ? HF__POLL_IN | HF__POLL_OUT
                                                : HF__POLL_IN) == 0;
}

/* If someone cancels the wait of a commit for the standbys, it ends with its
 * result and a warning, which has no code of its own: each warning is taken for
 * that. */
static void take_warning(void *user, const PGresult *notice)
{
    const char *severity =
        PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    hf__pg_conn *conn = user;

    if (severity != NULL && strcmp(severity, "WARNING") == 0)
        conn->warned = true;
}

static void doubt_result(hf__backend_call *call)
{
    bool writes = hf__pg_commits(call) && call->write_count > 0;

    if (call->outcome != HF__BACKEND_DONE || (!writes && !call->doubtful))
        return;
    set_outcome(call, hf__pg_unanswered(call), HF_UNAVAILABLE,
                "PostgreSQL did not wait for its synchronous standbys");
}

static void end_query(hf__pg_conn *conn)
{
    hf__backend_call *call = conn->call;

    if (call != NULL && conn->warned)
        doubt_result(call);
    conn->busy = false;
    conn->call = NULL;
    hf__tick_stop(&conn->tick);
    if (call != NULL)
        call->done(call);
}

/* Take all results that are here. */
static void take_results(hf__pg_conn *conn)
{
    while (conn->busy && PQisBusy(conn->pg) == 0) {
        PGresult *result = PQgetResult(conn->pg);
        bool known = result == NULL || hf__pg_is_result(result);

        if (result == NULL) {
            if (PQstatus(conn->pg) == CONNECTION_OK)
                end_query(conn);
            else
                break_conn(conn, HF_UNAVAILABLE,
                           "PostgreSQL: the connection broke");
            return;
        }
        if (known && conn->call != NULL)
            hf__pg_take(conn->pg, result, conn->call);
        PQclear(result);
        if (!known) {
            break_conn(conn, HF_CORRUPT,
                       "PostgreSQL: it sent a malformed reply");
            return;
        }
    }
}

/* What comes while nothing is asked, as that a setting has changed: libpq keeps
 * it until someone looks. */
static void skip_input(hf__pg_conn *conn)
{
    PGnotify *notice;

    while ((notice = PQnotifies(conn->pg)) != NULL)
        PQfreemem(notice);
}

/* It is of records, so a commit was refused. */
static void refuse_reply(hf__pg_conn *conn)
{
    hf__backend_call *call = conn->call;

    drop_conn(conn);
    if (call == NULL)
        return;
    call->outcome = HF__BACKEND_FAILED;
    call->status = hf__fail(&call->error, HF_FULL,
                            "a request on PostgreSQL may read %zu MiB at most",
                            HF__PG_REPLY_MAX >> 20);
    call->done(call);
}

static void on_ready(hf__poll *poll, int events)
{
    hf__pg_conn *conn = hf__container_of(poll, hf__pg_conn, poll);
    hf__pg_backend *self = conn->self;

    (void)events;
    if (PQconsumeInput(conn->pg) == 0)
        break_conn(conn, HF_UNAVAILABLE, "PostgreSQL: the connection broke");
    else if (conn->busy &&
             hf__pg_received(conn->pg) - conn->began > HF__PG_REPLY_MAX)
        refuse_reply(conn);
    else if (conn->busy)
        take_results(conn);
    else
        skip_input(conn);
    if (conn->pg != NULL && !watch_conn(conn))
        break_conn(conn, HF_UNAVAILABLE, "PostgreSQL: the connection broke");
    hf__pg_pool_pump(self);
}

static void on_deadline(hf__tick *tick)
{
    hf__pg_conn *conn = hf__container_of(tick, hf__pg_conn, tick);
    hf__pg_backend *self = conn->self;
    hf__backend_call *call = conn->call;

    /* The answer is not waited for any more. */
    hf__pg_connector_cancel(self->connector, free_conn(conn));
    set_outcome(call, hf__pg_unanswered(call), HF_UNAVAILABLE,
                "PostgreSQL: no answer by the deadline");
    call->done(call);
    hf__pg_pool_pump(self);
}

void hf__pg_pool_add(hf__pg_backend *self, PGconn *pg)
{
    hf__pg_conn *conn = self->conns;

    while (conn < self->conns + HF__PG_CONNS && conn->pg != NULL)
        conn++;
    if (conn == self->conns + HF__PG_CONNS) {
        PQfinish(pg);
        return;
    }
    *conn = (hf__pg_conn){.self = self, .pg = pg};
    PQsetNoticeReceiver(pg, take_warning, conn);
    conn->poll.ready = on_ready;
    conn->poll.fd = hf__pg_dup_socket(pg);
    conn->tick.ring = on_deadline;
    if (!watch_conn(conn))
        drop_conn(conn);
    hf__pg_pool_pump(self);
}

/* ------------------------------------------------------------------ sending */

/* A message to ourselves, by the way that those of others take. */
static bool send_probe(hf__pg_conn *conn)
{
    char text[96];

    (void)snprintf(text, sizeof(text),
                   "SELECT pg_catalog.pg_notify('%s', '%s')",
                   conn->self->listener.channel, conn->self->listener.word);
    return PQsendQuery(conn->pg, text) == 1;
}

/* false: the connection is good for nothing. */
static bool send_next(hf__pg_conn *conn)
{
    hf__pg_backend *self = conn->self;
    hf__backend_call *call = self->first;
    bool sent;

    if (self->probe) {
        sent = send_probe(conn);
        self->probe = !sent;
        call = NULL;
    } else {
        sent = hf__pg_send(conn->pg, &self->statements, call);
    }
    if (!sent && call != NULL && call->status == HF_NO_MEMORY)
        refuse_later(self, take_first(self));
    if (!sent)
        return false;
    conn->busy = true;
    conn->warned = false;
    conn->began = hf__pg_received(conn->pg);
    if (call != NULL) {
        conn->call = take_first(self);
        hf__tick_set(self->config.poller, &conn->tick, call->deadline_ms);
    }
    return watch_conn(conn);
}

static hf__pg_conn *find_free(hf__pg_backend *self)
{
    for (size_t i = 0; i < HF__PG_CONNS; i++) {
        if (self->conns[i].pg != NULL && !self->conns[i].busy)
            return &self->conns[i];
    }
    return NULL;
}

static size_t count_conns(const hf__pg_backend *self)
{
    size_t count = self->connecting;

    for (size_t i = 0; i < HF__PG_CONNS; i++)
        count += self->conns[i].pg != NULL;
    return count;
}

/* One for each call that waits. */
static void make_conns(hf__pg_backend *self)
{
    const hf__backend_call *call = self->first;
    size_t wanted = self->probe;

    for (; call != NULL && wanted < HF__PG_CONNS; call = call->backend)
        wanted++;
    while (self->connecting < wanted && count_conns(self) < HF__PG_CONNS &&
           hf__pg_connector_start(self->connector, false))
        self->connecting++;
}

void hf__pg_pool_pump(hf__pg_backend *self)
{
    while (self->first != NULL || self->probe) {
        hf__pg_conn *conn = find_free(self);

        if (conn == NULL)
            break;
        /* A call that was not sent stays first, if it can be sent on another;
         * one that was, in part, is completed by the loop, which sees the
         * broken connection. */
        if (!send_next(conn) && conn->call == NULL)
            drop_conn(conn);
    }
    make_conns(self);
}

void hf__pg_pool_call(hf__backend *backend, hf__backend_call *call)
{
    hf__pg_backend *self = (hf__pg_backend *)backend;

    if (!hf__pg_accepts(call)) {
        refuse_later(self, call);
        return;
    }
    put_last(self, call);
    hf__pg_pool_pump(self);
}

void hf__pg_pool_fail(hf__pg_backend *self, hf_status status,
                      const hf_error *error)
{
    /* Others have a connection, and take what waits. */
    if (count_conns(self) == self->connecting)
        fail_queue(self, INT64_MAX, status, error->message);
}

void hf__pg_pool_init(hf__pg_backend *self)
{
    self->end = &self->first;
    self->queue_tick.ring = expire_queue;
}

void hf__pg_pool_close(hf__pg_backend *self)
{
    for (size_t i = 0; i < HF__PG_CONNS; i++) {
        /* What is under way, as a release, is still done. */
        if (self->conns[i].pg != NULL)
            break_conn(&self->conns[i], HF_UNAVAILABLE,
                       "PostgreSQL: the client is closed");
    }
    while (self->first != NULL || self->refused != NULL)
        fail_queue(self, INT64_MAX, HF_UNAVAILABLE, "the client is closed");
    hf__tick_stop(&self->queue_tick);
}
