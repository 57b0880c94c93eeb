/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_connector.c - makes connections, each on a thread of its own.
 *
 * Such a thread may be in libpq until connect_timeout, or in the resolver of
 * names, when the backend is closed: close() does not wait for it. What they
 * share is freed by the last of them. `mutex` guards `self` and `users`; the
 * loop lives while `self` is set.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "records/postgres/pg_backend.h"
#include "records/postgres/pg_words.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/thread.h"

struct hf__pg_connector {
    hf__pg_account account;
    char inbox[HF__CHANNEL_SIZE];
    pthread_mutex_t mutex;
    hf__pg_backend *self; /* NULL: closed */
    size_t users;
};

typedef struct conn_attempt {
    hf__task task; /* first */
    hf__pg_connector *of;
    bool listens;
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
    memcpy(of->inbox, self->config.inbox, strlen(self->config.inbox) + 1);
    of->self = self;
    of->users = 1;
    *made = of;
    return HF_OK;
}

const hf__pg_account *hf__pg_connector_account(const hf__pg_connector *of)
{
    return &of->account;
}

static void leave_connector(hf__pg_connector *of)
{
    bool last;

    pthread_mutex_lock(&of->mutex);
    last = --of->users == 0;
    pthread_mutex_unlock(&of->mutex);
    if (!last)
        return;
    hf__pg_account_done(&of->account);
    pthread_mutex_destroy(&of->mutex);
    hf__free(of);
}

/* On the loop thread: give the connection to the backend, if it is still
 * there. */
static void give_conn(hf__task *task)
{
    conn_attempt *made = (conn_attempt *)task;
    hf__pg_backend *self = made->of->self;

    if (self == NULL) {
        if (made->pg != NULL)
            PQfinish(made->pg);
    } else if (made->listens) {
        if (made->pg != NULL)
            hf__pg_listener_add(self, made->pg);
        else
            hf__pg_listener_fail(self);
    } else {
        self->connecting--;
        if (made->pg != NULL)
            hf__pg_pool_add(self, made->pg);
        else
            hf__pg_pool_fail(self, made->status, &made->error);
    }
    leave_connector(made->of);
    hf__free(made);
}

hf_status hf__pg_listen_on(PGconn *pg, hf_bytes inbox, hf_error *err)
{
    char channel[HF__PG_CHANNEL_SIZE];
    char text[160];
    hf_status status = HF_OK;
    PGresult *result;

    hf__pg_channel(channel, inbox);
    (void)snprintf(text, sizeof(text),
                   "LISTEN %s; SELECT pg_advisory_lock_shared(%lld)", channel,
                   (long long)hf__pg_presence(inbox));
    result = PQexec(pg, text);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        status = hf__pg_failed(pg, result, err);
    PQclear(result);
    return status;
}

static void *run_attempt(void *user)
{
    conn_attempt *made = user;
    hf__pg_connector *of = made->of;
    PGconn *pg = NULL;
    bool closed;

    made->status =
        hf__pg_connect(&of->account, made->listens, &pg, &made->error);
    if (made->status == HF_OK && made->listens)
        made->status = hf__pg_listen_on(pg, hf_str(of->inbox), &made->error);
    if (made->status == HF_OK && PQsetnonblocking(pg, 1) != 0)
        made->status =
            hf__fail(&made->error, HF_SYSTEM, "%s", PQerrorMessage(pg));
    if (made->status == HF_OK)
        made->pg = pg;
    else if (pg != NULL)
        PQfinish(pg);
    made->task.run = give_conn;
    pthread_mutex_lock(&of->mutex);
    closed = of->self == NULL;
    if (!closed)
        of->self->config.post(of->self->config.loop, &made->task);
    pthread_mutex_unlock(&of->mutex);
    if (!closed)
        return NULL;
    if (made->pg != NULL)
        PQfinish(made->pg);
    leave_connector(of);
    hf__free(made);
    return NULL;
}

bool hf__pg_connector_start(hf__pg_connector *of, bool listens)
{
    conn_attempt *made = hf__calloc(1, sizeof(*made));
    pthread_attr_t attributes;
    pthread_t thread;
    bool started;

    if (made == NULL)
        return false;
    made->of = of;
    made->listens = listens;
    made->error = (hf_error)HF_ERROR_INIT;
    pthread_mutex_lock(&of->mutex);
    of->users++;
    pthread_mutex_unlock(&of->mutex);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    started = hf__thread_start(&thread, &attributes, run_attempt, made) == 0;
    pthread_attr_destroy(&attributes);
    if (started)
        return true;
    leave_connector(of);
    hf__free(made);
    return false;
}

void hf__pg_connector_close(hf__pg_connector *of)
{
    pthread_mutex_lock(&of->mutex);
    of->self = NULL;
    pthread_mutex_unlock(&of->mutex);
    leave_connector(of);
}
