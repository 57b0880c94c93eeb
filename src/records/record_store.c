/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_store.c - see record_store.h.
 *
 * Requests of this client on one key run one after the other, in the order in
 * which they came: they would only conflict. Those that wait may be in the
 * commit of the first.
 */
#include "records/record_store.h"

#include <pthread.h>

#include "records/record_work.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

/* While a group runs, no other request does, and TIME grows old. After each
 * conflict half of it: the records that came with it grow old as well. */
#define GROUP_US INT64_C(20000)

/* ------------------------------------------------------------------- works */

static void ring_timers(hf__record_store *store)
{
    const hf__heap_node *first = hf__heap_first(&store->timers);

    hf__alarm_set(store->alarm, first != NULL ? first->at_ms : INT64_MAX);
}

static void wake_at(hf__work *work, int64_t at_ms)
{
    hf__record_store *store = work->store;

    if (work->request != NULL && at_ms > work->request->deadline_ms)
        at_ms = work->request->deadline_ms;
    hf__heap_remove(&store->timers, &work->timer);
    hf__heap_put(&store->timers, &work->timer, at_ms);
    ring_timers(store);
}

static void unlink_work(hf__record_store *store, hf__work *work)
{
    *work->place = work->next;
    if (work->next != NULL)
        work->next->place = work->place;
    else
        store->end = work->place;
    hf__heap_remove(&store->timers, &work->timer);
    hf__work_unlink_keys(work);
    store->waiting -= work->waits;
    store->count--;
}

static void begin_next(hf__task *task);

static void end_work(hf__work *work)
{
    hf__record_store *store = work->store;

    unlink_work(store, work);
    hf__work_free(work);
    if (store->waiting == 0 || store->begins)
        return;
    store->begins = true;
    store->next_task.run = begin_next;
    hf__loop_post(store->loop, &store->next_task);
}

/* One that has waited may begin, and may end at once, and free itself. */
static void begin_next(hf__task *task)
{
    hf__record_store *store =
        hf__container_of(task, hf__record_store, next_task);
    hf__work *work = store->first;

    store->begins = false;
    while (work != NULL && store->waiting > 0) {
        hf__work *next = work->next;

        if (work->waits && !hf__work_has_earlier(work)) {
            work->waits = false;
            store->waiting--;
            hf__work_begin(work);
        }
        work = next;
    }
}

static void ring_alarm(void *user)
{
    hf__record_store *store = user;
    hf__heap_node *first = hf__heap_first(&store->timers);

    while (first != NULL && first->at_ms <= hf__clock_boot_ms()) {
        hf__work *work = hf__container_of(first, hf__work, timer);

        hf__heap_remove(&store->timers, first);
        hf__work_tick(work);
        first = hf__heap_first(&store->timers);
    }
    ring_timers(store);
}

static void begin_work(hf__task *task)
{
    hf__work *work = (hf__work *)task;
    hf__record_store *store = work->store;

    work->place = store->end;
    *store->end = work;
    store->end = &work->next;
    store->count++;
    hf__work_link_keys(work);
    if (store->closing) {
        hf__work_fail(work, HF_UNAVAILABLE, "the client is closed");
        return;
    }
    if (!hf__heap_reserve(&store->timers, store->count)) {
        hf__work_fail(work, HF_NO_MEMORY, "out of memory");
        return;
    }
    work->waits = hf__work_has_earlier(work);
    store->waiting += work->waits;
    if (work->waits)
        wake_at(work, INT64_MAX);
    else
        hf__work_begin(work);
}

/* ---------------------------------------------------------------- requests */

/* false: the request has failed. */
static bool post_work(hf__record_store *store, hf__request *request,
                      void (*done)(hf__work *, hf__request *), void *user)
{
    hf__work *work = hf__work_new(store, request);

    if (work == NULL) {
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
        return false;
    }
    work->done = done;
    work->user = user;
    work->task.run = begin_work;
    hf__loop_post(store->loop, &work->task);
    return true;
}

static void call_done(hf__work *work, hf__request *request)
{
    (void)work;
    request->on_done(request);
}

void hf__record_store_submit(hf__record_store *store, hf__request *request)
{
    if (!post_work(store, request, call_done, NULL))
        request->on_done(request);
}

/* A thread that waits for its request. */
typedef struct performer {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done; /* guarded by mutex */
} performer;

static void wake_performer(hf__work *work, hf__request *request)
{
    performer *self = work->user;

    (void)request;
    pthread_mutex_lock(&self->mutex);
    self->done = true;
    pthread_cond_broadcast(&self->cond);
    pthread_mutex_unlock(&self->mutex);
}

void hf__record_store_perform(hf__record_store *store, hf__request *request)
{
    performer self = {.done = false};
    bool posted;

    pthread_mutex_init(&self.mutex, NULL);
    hf__cond_init(&self.cond);
    posted = post_work(store, request, wake_performer, &self);
    pthread_mutex_lock(&self.mutex);
    while (posted && !self.done)
        hf__cond_wait_until(&self.cond, &self.mutex, INT64_MAX);
    pthread_mutex_unlock(&self.mutex);
    pthread_cond_destroy(&self.cond);
    pthread_mutex_destroy(&self.mutex);
}

void hf__record_store_cancel(hf__record_store *store, hf__request *request)
{
    hf__work *work = store->first;

    while (work != NULL && work->request != request)
        work = work->next;
    if (work != NULL)
        (void)hf__work_cancel(work);
    else /* it is still to begin */
        request->deadline_ms = hf__clock_boot_ms();
}

void hf__record_store_learn(hf__record_store *store,
                            const hf__backend_record *record)
{
    const hf__kept *one = hf__kept_find(&store->kept, record->key);

    if (one == NULL || record->version == 0 ||
        one->record.at_us <= record->at_us)
        hf__record_store_keep(store, record);
}

/* -------------------------------------------------------------------- life */

typedef struct drop_task {
    hf__task base;
    hf__backend *backend;
} drop_task;

static void drop_backend(hf__task *task)
{
    hf__backend *backend = ((drop_task *)task)->backend;

    backend->ops->close(backend);
}

void hf__record_store_drop(hf__loop *loop, hf__backend *backend)
{
    drop_task task = {{drop_backend, NULL}, backend};

    if (hf__loop_started(loop))
        hf__loop_run(loop, &task.base);
    else
        drop_backend(&task.base);
}

hf_status hf__record_store_open(hf__record_store *store, hf__loop *loop,
                                hf__backend *backend, int64_t budget_ms,
                                hf_error *err)
{
    hf_status status;

    *store = (hf__record_store){.loop = loop,
                                .backend = backend,
                                .budget_ms = budget_ms,
                                .group_us = GROUP_US};
    store->end = &store->first;
    store->line_end[0] = &store->line[0];
    store->line_end[1] = &store->line[1];
    store->ended = end_work;
    store->wake_at = wake_at;
    hf__heap_init(&store->timers);
    store->guard = hf__guard_new();
    status = store->guard == NULL ? hf__fail(err, HF_NO_MEMORY, "out of memory")
                                  : hf__loop_start(loop, err);
    if (status == HF_OK)
        status = hf__scratch_open(&store->scratch, err);
    if (status == HF_OK)
        status = hf__alarm_new(loop, ring_alarm, store, &store->alarm, err);
    if (status != HF_OK && store->scratch != NULL)
        hf__scratch_close(store->scratch);
    if (status != HF_OK) {
        hf__guard_free(store->guard);
        hf__record_store_drop(loop, backend);
    }
    return status;
}

typedef struct close_task {
    hf__task base;
    hf__record_store *store;
} close_task;

static void end_works(hf__task *task)
{
    hf__record_store *store = ((close_task *)task)->store;
    hf__work *work = store->first;

    store->closing = true;
    while (work != NULL) {
        hf__work *next = work->next;

        hf__work_fail(work, HF_UNAVAILABLE, "the client is closed");
        work = next;
    }
    store->backend->ops->close(store->backend);
}

void hf__record_store_close(hf__record_store *store)
{
    close_task task = {{end_works, NULL}, store};

    hf__loop_run(store->loop, &task.base);
    hf__loop_call(store->loop, NULL);
    hf__alarm_free(store->alarm);
    hf__scratch_close(store->scratch);
    hf__kept_done(&store->kept);
    hf__guard_free(store->guard);
    hf__heap_done(&store->timers);
}
