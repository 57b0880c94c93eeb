/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_connector.c - makes connections, each on a thread of its own, and checks
 * what they lead to; and cancels what the server does for one, as libpq blocks
 * in that, too.
 *
 * Such a thread may wait for an answer until the deadline of a session, or in
 * the resolver of names, when the backend is closed: neither open() nor close()
 * waits for it. What they share is freed by the last of them. `mutex` guards
 * all but the first two; the loop lives while `self` is set.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "records/postgres/pg_backend.h"
#include "records/postgres/pg_words.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/thread.h"

/* A server that does not close the connection by which a query is cancelled
 * keeps a thread. No more than so many. */
#define CANCELS_MAX 16u
/* How long close() waits for them, ms: a program may end after it. */
#define CANCEL_MS 500

struct hf__pg_connector {
    hf__pg_account account;
    char inbox[HF__CHANNEL_SIZE];
    pthread_mutex_t mutex;
    hf__pg_backend *self; /* NULL: closed */
    size_t users;
    size_t cancels; /* of them, what they do */
    bool gives;     /* the loop thread takes a connection, or that none was
                       made ... */
    bool given;     /* ... and has taken the first: */
    hf_status status;
    hf_error error;
    pthread_cond_t changed; /* `given`, or `cancels` */
};

/* What a thread is for. */
typedef enum conn_use { FOR_CALLS, TO_LISTEN, TO_CANCEL } conn_use;

typedef struct conn_attempt {
    hf__task task; /* first */
    hf__pg_connector *of;
    conn_use use;
    bool durable;
    PGconn *pg; /* NULL: failed */
    hf_status status;
    hf_error error;
} conn_attempt;

hf_status hf__pg_connector_new(hf__pg_backend *self, hf__pg_connector **made,
                               hf_error *err)
{
    hf__pg_connector *of = hf__calloc(1, sizeof(*of));
    hf_status status;

    if (of == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__pg_account_init(&of->account, self->config.store, err);
    if (status != HF_OK) {
        hf__free(of);
        return status;
    }
    pthread_mutex_init(&of->mutex, NULL);
    hf__cond_init(&of->changed);
    memcpy(of->inbox, self->config.inbox, strlen(self->config.inbox) + 1);
    of->error = (hf_error)HF_ERROR_INIT;
    of->self = self;
    of->users = 1;
    *made = of;
    return HF_OK;
}

const hf__pg_account *hf__pg_connector_account(const hf__pg_connector *of)
{
    return &of->account;
}

static void leave_connector(hf__pg_connector *of, bool cancels)
{
    bool last;

    pthread_mutex_lock(&of->mutex);
    of->cancels -= cancels;
    last = --of->users == 0;
    pthread_cond_signal(&of->changed);
    pthread_mutex_unlock(&of->mutex);
    if (!last)
        return;
    hf__pg_account_done(&of->account);
    pthread_cond_destroy(&of->changed);
    pthread_mutex_destroy(&of->mutex);
    hf__free(of);
}

static void drop_attempt(conn_attempt *made)
{
    if (made->pg != NULL)
        PQfinish(made->pg);
    leave_connector(made->of, made->use == TO_CANCEL);
    hf__free(made);
}

/* The connection, or why there is none. */
static void give_backend(hf__pg_backend *self, conn_attempt *made)
{
    PGconn *pg = made->pg;

    made->pg = NULL;
    if (made->use == TO_LISTEN && pg != NULL) {
        hf__pg_listener_add(self, pg);
    } else if (made->use == TO_LISTEN) {
        hf__pg_listener_fail(self);
    } else {
        self->connecting--;
        self->base.durable |= made->durable;
        if (pg != NULL)
            hf__pg_pool_add(self, pg);
        else
            hf__pg_pool_fail(self, made->status, &made->error);
    }
}

/* On the loop thread, if the backend is still there. */
static void give_conn(hf__task *task)
{
    conn_attempt *made = (conn_attempt *)task;
    hf__pg_connector *of = made->of;
    hf__pg_backend *self;

    pthread_mutex_lock(&of->mutex);
    self = of->self;
    of->gives = self != NULL;
    pthread_mutex_unlock(&of->mutex);
    if (self != NULL) {
        give_backend(self, made);
        pthread_mutex_lock(&of->mutex);
        if (!of->given) {
            of->status = made->status;
            of->error = made->error;
        }
        of->gives = false;
        of->given = true;
        pthread_cond_signal(&of->changed);
        pthread_mutex_unlock(&of->mutex);
    }
    drop_attempt(made);
}

static hf_status run_query(PGconn *pg, const char *text, int64_t deadline_ms,
                           hf_error *err)
{
    PGresult *result;
    hf_status status = hf__pg_query(pg, text, deadline_ms, &result, err);

    if (status == HF_OK)
        PQclear(result);
    return status;
}

/* The server may not have noticed for hours that the connection on which this
 * client listened before is gone. */
static void end_former(PGconn *pg, int64_t presence, int64_t deadline_ms)
{
    char text[512];

    (void)snprintf(text, sizeof(text),
                   "SELECT pg_catalog.pg_terminate_backend(l.pid) "
                   "FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_database d "
                   "ON d.oid = l.database WHERE l.locktype = 'advisory' "
                   "AND l.mode = 'ExclusiveLock' AND l.granted "
                   "AND l.objsubid = 1 AND l.classid = %lu AND l.objid = %lu "
                   "AND d.datname = pg_catalog.current_database()",
                   (unsigned long)((uint64_t)presence >> 32),
                   (unsigned long)((uint64_t)presence & UINT32_MAX));
    (void)run_query(pg, text, deadline_ms, NULL);
}

/* How long the lock below may be another session's, ms: of a commit that looks
 * for it, for an instant only. */
#define PRESENCE_MS 1000

/* So a server notices within half a minute that this machine is gone, and with
 * it the lock below. On a unix socket they have no effect. */
#define KEEPALIVE_IDLE_S 15
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_COUNT 3

/* The lock of a session, which says that the client listens, would stay with
 * whichever session of the server a pooler has lent us, and never expire. */
static hf_status listen_on(PGconn *pg, hf_bytes inbox, int64_t deadline_ms,
                           hf_error *err)
{
    char channel[HF__PG_CHANNEL_SIZE];
    char text[512];
    bool is_pooled = false;
    hf_status status = hf__pg_is_pooled(pg, deadline_ms, &is_pooled, err);

    if (status == HF_OK && is_pooled)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "messages do not come through a pooler");
    if (status != HF_OK)
        return status;
    hf__pg_channel(channel, inbox);
    (void)snprintf(text, sizeof(text),
                   "SET lock_timeout = %d; SET tcp_keepalives_idle = %d;"
                   "SET tcp_keepalives_interval = %d;"
                   "SET tcp_keepalives_count = %d; LISTEN %s;"
                   "SELECT pg_catalog.pg_advisory_lock(%lld)",
                   PRESENCE_MS, KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S,
                   KEEPALIVE_COUNT, channel, (long long)hf__pg_presence(inbox));
    status = run_query(pg, text, deadline_ms, err);
    if (status != HF_OK)
        end_former(pg, hf__pg_presence(inbox), deadline_ms);
    return status;
}

static void make_conn(conn_attempt *made)
{
    const hf__pg_account *account = &made->of->account;
    bool listens = made->use == TO_LISTEN;
    int64_t deadline_ms = hf__pg_deadline(account);
    PGconn *pg = NULL;

    made->status =
        hf__pg_connect(account, listens, deadline_ms, &pg, &made->error);
    if (made->status == HF_OK && listens)
        made->status =
            listen_on(pg, hf_str(made->of->inbox), deadline_ms, &made->error);
    else if (made->status == HF_OK)
        made->status = hf__pg_check(account, pg, deadline_ms, &made->durable,
                                    &made->error);
    if (made->status == HF_OK)
        made->pg = pg;
    else if (pg != NULL)
        PQfinish(pg);
}

/* The connection is closed after it: before, a pooler would not know any more
 * which session it is. */
static void cancel_query(PGconn *pg)
{
    PGcancel *cancel = PQgetCancel(pg);
    char error[256];

    if (cancel != NULL)
        (void)PQcancel(cancel, error, sizeof(error));
    PQfreeCancel(cancel);
}

static void *run_attempt(void *user)
{
    conn_attempt *made = user;
    hf__pg_connector *of = made->of;
    bool posted;

    if (made->use == TO_CANCEL)
        cancel_query(made->pg);
    else
        make_conn(made);
    made->task.run = give_conn;
    pthread_mutex_lock(&of->mutex);
    posted = of->self != NULL && made->use != TO_CANCEL;
    if (posted)
        of->self->config.post(of->self->config.loop, &made->task);
    pthread_mutex_unlock(&of->mutex);
    if (!posted)
        drop_attempt(made);
    return NULL;
}

/* `pg`: to cancel what it does; false: it stays the caller's. */
static bool start_attempt(hf__pg_connector *of, conn_use use, PGconn *pg)
{
    conn_attempt *made = hf__calloc(1, sizeof(*made));
    bool cancels = use == TO_CANCEL;
    bool started;

    if (made == NULL)
        return false;
    *made =
        (conn_attempt){.of = of, .use = use, .pg = pg, .error = HF_ERROR_INIT};
    pthread_mutex_lock(&of->mutex);
    started = !cancels || of->cancels < CANCELS_MAX;
    of->users++;
    of->cancels += cancels;
    pthread_mutex_unlock(&of->mutex);
    started = started && hf__thread_detach(run_attempt, made);
    if (!started) {
        made->pg = NULL;
        drop_attempt(made);
    }
    return started;
}

bool hf__pg_connector_start(hf__pg_connector *of, bool listens)
{
    return start_attempt(of, listens ? TO_LISTEN : FOR_CALLS, NULL);
}

void hf__pg_connector_cancel(hf__pg_connector *of, PGconn *pg)
{
    if (!start_attempt(of, TO_CANCEL, pg))
        PQfinish(pg);
}

/* The attempt has the same deadline, and says better what was not answered. */
#define GRACE_MS 50

hf_status hf__pg_connector_open(hf__pg_connector *of, hf_error *err)
{
    int64_t deadline_ms = hf__pg_deadline(&of->account) + GRACE_MS;
    hf_status status;

    of->self->connecting++;
    if (!start_attempt(of, FOR_CALLS, NULL))
        return hf__fail(err, HF_NO_MEMORY, "out of memory, or of threads");
    pthread_mutex_lock(&of->mutex);
    while (!of->given && (of->gives || hf__clock_boot_ms() < deadline_ms))
        hf__cond_wait_until(&of->changed, &of->mutex,
                            of->gives ? INT64_MAX : deadline_ms);
    if (!of->given)
        of->self = NULL; /* too late */
    status = of->given
                 ? of->status
                 : hf__fail(&of->error, HF_UNAVAILABLE,
                            "no connection to PostgreSQL by the deadline");
    if (status != HF_OK)
        (void)hf__fail_copy(err, &of->error);
    pthread_mutex_unlock(&of->mutex);
    return status;
}

void hf__pg_connector_close(hf__pg_connector *of)
{
    int64_t deadline_ms = hf__clock_boot_ms() + CANCEL_MS;

    pthread_mutex_lock(&of->mutex);
    of->self = NULL;
    while (of->cancels > 0 && hf__clock_boot_ms() < deadline_ms)
        hf__cond_wait_until(&of->changed, &of->mutex, deadline_ms);
    pthread_mutex_unlock(&of->mutex);
    leave_connector(of, false);
}
