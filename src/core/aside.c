/* SPDX-License-Identifier: Apache-2.0 */
/* aside.c - see aside.h. */
#include "core/aside.h"

#include "core/async.h"
#include "core/client.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/thread.h"

struct hf__aside {
    hf__aside *next;
    pthread_t thread;
    hf_call *call;
    hf_status (*work)(hf_call *call, hf_error *err);
    atomic_bool ended;
};

void hf__asides_init(hf__asides *asides)
{
    pthread_mutex_init(&asides->mutex, NULL);
    asides->first = NULL;
}

/* Join those that have ended; `all`: wait for the others, too. */
static void join_locked(hf__asides *asides, bool all)
{
    hf__aside **at = &asides->first;

    while (*at != NULL) {
        hf__aside *self = *at;

        if (!all && !atomic_load(&self->ended)) {
            at = &self->next;
            continue;
        }
        pthread_join(self->thread, NULL);
        *at = self->next;
        hf__free(self);
    }
}

void hf__asides_done(hf__asides *asides, bool forked)
{
    if (forked)
        return;
    pthread_mutex_lock(&asides->mutex);
    join_locked(asides, true);
    pthread_mutex_unlock(&asides->mutex);
    pthread_mutex_destroy(&asides->mutex);
}

hf_status hf__aside_check(const hf_call *call, hf_error *err)
{
    if (!hf__is_aside(call))
        return HF_OK;
    if ((atomic_load(&call->progress) & HF__CALL_CANCELLED) != 0)
        return hf__fail(err, HF_CANCELLED, "cancelled");
    if (hf__life_is_closing(&call->client->life))
        return hf__fail(err, HF_UNAVAILABLE, "the client is closed");
    return HF_OK;
}

static void *run_aside(void *user)
{
    hf__aside *self = user;
    hf_call *call = self->call;
    hf__life *life = &call->client->life;
    hf__request *request = &call->request;

    if (hf__life_enter(life)) {
        request->status = self->work(call, &request->error);
        hf__life_leave(life);
    } else {
        request->status = hf__aside_check(call, &request->error);
    }
    hf__call_complete(call); /* closing the client joins this thread */
    atomic_store(&self->ended, true);
    return NULL;
}

/* hf__aside_check() sees it. */
static void cancel_aside(hf_call *call)
{
    (void)call;
}

/* false: the call has failed. */
static bool begin_thread(hf__aside *self)
{
    hf_call *call = self->call;
    hf__asides *asides = &call->client->asides;
    int rc;

    pthread_mutex_lock(&asides->mutex);
    join_locked(asides, false);
    rc = hf__thread_start(&self->thread, run_aside, self);
    if (rc == 0) {
        self->next = asides->first;
        asides->first = self;
    }
    pthread_mutex_unlock(&asides->mutex);
    if (rc == 0)
        return true;
    call->request.status = hf__fail_errno(&call->request.error, HF_SYSTEM, rc,
                                          "cannot start a thread");
    hf__free(self);
    return false;
}

static hf_status start_aside(hf_call *call,
                             hf_status (*work)(hf_call *call, hf_error *err))
{
    hf_status status = call->prepared;
    hf__aside *self = NULL;

    if (status == HF_OK)
        self = hf__calloc(1, sizeof(*self));
    if (status == HF_OK && self == NULL)
        status = hf__fail(call->form.err, HF_NO_MEMORY, "a call");
    if (status != HF_OK) {
        hf__call_discard(call);
        return status;
    }
    self->call = call;
    self->work = work;
    call->cancel = cancel_aside;
    hf__call_start_begin(call, call->form.async);
    if (!begin_thread(self))
        hf__call_complete(call);
    hf__call_start_end(call);
    return HF_OK;
}

hf_status hf__end_aside(hf_call *call,
                        hf_status (*work)(hf_call *call, hf_error *err))
{
    hf_status status = call->prepared;
    hf__visit visit;

    if (hf__is_aside(call))
        return start_aside(call, work);
    if (status == HF_OK) {
        hf__visit_begin(&visit, &call->client->life);
        status = work(call, call->form.err);
        hf__visit_end(&visit);
    }
    hf__call_end(call);
    hf__call_leave(call);
    return status;
}
