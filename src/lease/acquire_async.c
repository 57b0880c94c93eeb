/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_async.c - see acquire_async.h. */
#include "lease/acquire_async.h"

#include "lease/release.h"
#include "lease/watchdog.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* A try that a local store runs on the loop thread must not keep that thread
 * from renewals for long; the next try makes it good. */
#define LOCAL_TRY_MS 20

/* What an answer that is on its way may take, and leaving the queue, of a
 * caller who wants to be rid of us: with it we know what became of the try. */
#define GRACE_MS 100

static hf_client *client_of(const hf__waiting *self)
{
    return self->asking.lock->client;
}

/* ----------------------------------------------------------------- the end */

static void finish(hf__waiting *self)
{
    hf_lock *lock = self->asking.lock;
    hf_client *client = lock->client;
    hf__watchdog *watchdog = &client->leases->watchdog;
    hf_error error = HF_ERROR_INIT;
    bool watched;
    hf_status status = self->status;
    bool orphan;

    if (atomic_load(&self->cancelled) && hf__asking_may_retry(status) &&
        !self->asking.unresolved)
        status = hf__fail(&self->detail, HF_CANCELLED, "cancelled: %s",
                          self->asking.lock->kind->refused);
    status = hf__asking_end(&self->asking, status, &self->detail, &error);
    pthread_mutex_lock(&watchdog->mutex);
    if (status == HF_OK)
        hf__lock_hold_locked(lock, &self->asking.grant);
    else
        lock->state = HF__LOCK_FREE;
    lock->acquiring = NULL;
    watched = lock->watched; /* it may be freed behind this */
    pthread_cond_broadcast(&lock->changed);
    orphan = lock->orphan;
    pthread_mutex_unlock(&watchdog->mutex);
    if (status == HF_OK && watched)
        hf__registry_note(&client->leases->registry);
    if (orphan)
        hf__lock_end_orphan(lock);
    self->told(self->user, status, &error);
    hf__free(self);
}

/* From the loop thread's stages: stop what is still set, then finish. */
static void close_up(hf__waiting *self)
{
    hf_client *client = client_of(self);

    hf__timer_stop(&client->timers, &self->timer);
    if (self->watching)
        client->store->ops->event_unwatch(client->store, &self->watch);
    if (self->inside)
        hf__gate_leave(&client->leases->gates, self->place.gate);
    finish(self);
}

/* ------------------------------------------------------------------- tries */

static void run_arrival(hf__task *task);

static void arrive(hf__waiting *self)
{
    self->arrival = (hf__task){.run = run_arrival};
    hf__loop_post(client_of(self)->loop, &self->arrival);
}

static void request_done(hf__request *request)
{
    arrive(request->user);
}

/* Submit the filled request; false: it cannot be, as `status` says. */
static bool submit(hf__waiting *self)
{
    hf_client *client = client_of(self);
    hf__request *request = &self->asking.request;
    int64_t limit_ms = self->asking.limit_ms;

    if (atomic_load(&self->cancelled))
        limit_ms = hf__at_most(limit_ms,
                               hf__clock_after(hf__clock_boot_ms(), GRACE_MS));
    if ((client->store->capabilities & HF__CAP_LOCAL) != 0)
        limit_ms = hf__at_most(
            limit_ms, hf__clock_after(hf__clock_boot_ms(), LOCAL_TRY_MS));
    self->status = hf__request_stamp(client, request, limit_ms, &self->detail);
    if (self->status != HF_OK)
        return false;
    request->on_done = request_done;
    request->user = self;
    client->store->ops->submit(client->store, &request, 1);
    return true;
}

static void give_up(hf__waiting *self)
{
    hf_error detail = self->detail;
    hf_status status = self->status;

    if (status != HF_OK && self->asking.queued) {
        hf__asking_fill_leave(&self->asking);
        if (submit(self)) {
            self->stage = HF__WAITING_LEAVING;
            self->status = status;
            self->detail = detail;
            return;
        }
        hf__request_done(&self->asking.request);
    }
    self->status = status;
    self->detail = detail;
    close_up(self);
}

static void try_again(hf__waiting *self)
{
    hf__store *store = client_of(self)->store;

    hf__timer_stop(&client_of(self)->timers, &self->timer);
    self->stage = HF__WAITING_TRYING;
    self->moved = false;
    hf__asking_fill(&self->asking, store->ops->inbox(store));
    if (!submit(self))
        give_up(self);
}

static void read_answer(hf__waiting *self)
{
    hf__request *request = &self->asking.request;

    self->status = request->status == HF_OK
                       ? HF_OK
                       : hf__fail_copy(&self->detail, &request->error);
    self->status = hf__asking_read(&self->asking, self->status, &self->detail);
}

static void heed_event(hf__waiting *self)
{
    int64_t pause_ms = hf__asking_hold_back(&self->asking);

    self->round = 0;
    self->stage = HF__WAITING_SLEEPING;
    if (pause_ms == 0 ||
        !hf__timer_set(
            &client_of(self)->timers, &self->timer,
            hf__at_most(self->asking.until_ms,
                        hf__clock_after(hf__clock_boot_ms(), pause_ms))))
        try_again(self);
}

static void sleep_until_news(hf__waiting *self)
{
    hf__timers *timers = &client_of(self)->timers;

    if (!hf__asking_may_retry(self->status) || self->cancelled ||
        hf__clock_boot_ms() >= self->asking.until_ms) {
        give_up(self);
        return;
    }
    if (self->moved && hf__asking_heeds_events(&self->asking, self->status)) {
        heed_event(self);
        return;
    }
    self->stage = HF__WAITING_SLEEPING;
    hf__asking_watch_holder(&self->asking, self->status, self->round);
    if (!hf__timer_set(
            timers, &self->timer,
            hf__asking_next_try(&self->asking, self->status, self->round++))) {
        self->status = hf__fail(&self->detail, HF_NO_MEMORY, "a timer");
        give_up(self);
    }
}

/* Submit what gives the lock back; done() is told, perhaps at once. */
static void give_back(hf__waiting *self, void (*done)(hf__request *request))
{
    hf_client *client = client_of(self);
    hf__request *request = &self->asking.request;
    hf_status status;

    hf__asking_fill_return(&self->asking);
    request->on_done = done;
    request->user = self;
    status = hf__request_stamp(client, request, self->asking.return_by_ms,
                               &request->error);
    request->status = status;
    if (status == HF_OK)
        client->store->ops->submit(client->store, &request, 1);
    else
        done(request);
}

static void on_moved(hf__watch *watch)
{
    hf__waiting *self =
        (hf__waiting *)((char *)watch - offsetof(hf__waiting, watch));

    self->moved = true;
    if (self->stage != HF__WAITING_SLEEPING ||
        !hf__asking_heeds_events(&self->asking, self->status))
        return;
    heed_event(self);
}

/* ------------------------------------------------------------------ in turn */

static void enter(hf__waiting *self)
{
    hf_client *client = client_of(self);
    hf_status status;

    self->inside = true;
    hf__timer_stop(&client->timers, &self->timer);
    self->watch = (hf__watch){.moved = on_moved};
    status = client->store->ops->event_watch(client->store,
                                             self->asking.lock->keys.main,
                                             &self->watch, &self->detail);
    self->watching = status == HF_OK;
    if (status != HF_OK || self->cancelled) {
        self->status = status != HF_OK ? status : HF_HELD;
        close_up(self);
        return;
    }
    try_again(self);
}

static void on_entered(hf__gate_place *place)
{
    arrive((hf__waiting *)((char *)place - offsetof(hf__waiting, place)));
}

/* The first step on the loop thread, after a first try. */
static void stand_in_line(hf__waiting *self)
{
    hf_client *client = client_of(self);
    hf_status status;

    self->stage = HF__WAITING_GATE;
    self->place.entered = on_entered;
    if (atomic_load(&self->cancelled)) { /* since the first try */
        close_up(self);
        return;
    }
    status = HF_NO_MEMORY;
    if (hf__timer_set(&client->timers, &self->timer, self->asking.until_ms))
        status =
            hf__gate_queue(&client->leases->gates, self->asking.lock->keys.main,
                           &self->place, &self->detail);
    else
        hf__fail(&self->detail, HF_NO_MEMORY, "a timer");
    if (status == HF_OK) {
        enter(self);
    } else if (status != HF_HELD) {
        self->status = status;
        close_up(self);
    }
}

/* Out of the line before it was inside; false: it is inside, or will hear of it
 * next. */
static bool step_aside(hf__waiting *self)
{
    if (!hf__gate_withdraw(&client_of(self)->leases->gates, &self->place))
        return false;
    self->status = hf__fail(&self->detail, HF_HELD,
                            "others waited for the lock before us");
    close_up(self);
    return true;
}

/* Have it complete now, one way or the other. */
static void cancel_request(hf__waiting *self)
{
    hf__store *store = client_of(self)->store;

    if (store->ops->cancel != NULL)
        store->ops->cancel(store, &self->asking.request);
}

static void on_timer(hf__timer *timer)
{
    hf__waiting *self =
        (hf__waiting *)((char *)timer - offsetof(hf__waiting, timer));

    if (self->stage == HF__WAITING_SLEEPING)
        try_again(self);
    else if (self->stage == HF__WAITING_GATE)
        step_aside(self);
    else
        cancel_request(self);
}

static void run_arrival(hf__task *task)
{
    hf__waiting *self =
        (hf__waiting *)((char *)task - offsetof(hf__waiting, arrival));

    switch (self->stage) {
    case HF__WAITING_FIRST:
        stand_in_line(self);
        break;
    case HF__WAITING_GATE:
        enter(self);
        break;
    case HF__WAITING_TRYING:
        read_answer(self);
        if (self->asking.returning) {
            self->stage = HF__WAITING_RETURNING;
            give_back(self, request_done);
            break;
        }
        sleep_until_news(self);
        break;
    case HF__WAITING_RETURNING:
        hf__asking_read_return(&self->asking, self->asking.request.status);
        sleep_until_news(self);
        break;
    case HF__WAITING_LEAVING:
        hf__request_done(&self->asking.request);
        close_up(self);
        break;
    case HF__WAITING_SLEEPING:
        break; /* nobody posts in this stage */
    }
}

void hf__waiting_cancel(hf__waiting *self)
{
    hf__timers *timers = &client_of(self)->timers;

    if (self->stage == HF__WAITING_SLEEPING)
        give_up(self);
    else if (self->stage == HF__WAITING_GATE)
        step_aside(self);
    else if (!hf__timer_set(timers, &self->timer,
                            hf__clock_boot_ms() + GRACE_MS))
        cancel_request(self);
}

/* ------------------------------------------------------------------- begin */

/* The handle is ours: what may be asked now? */
static hf__request *ask_first(hf__waiting *self)
{
    hf_lock *lock = self->asking.lock;
    hf_status status = HF_OK;

    self->stage = HF__WAITING_FIRST;
    if (lock->watched)
        status =
            hf__watchdog_start(&lock->client->leases->watchdog, &self->detail);
    hf__asking_fill(&self->asking, "");
    if (status == HF_OK)
        status = hf__request_stamp(lock->client, &self->asking.request,
                                   self->asking.limit_ms, &self->detail);
    if (status == HF_OK)
        return &self->asking.request;
    self->status = status;
    finish(self);
    return NULL;
}

static void after_first(hf__waiting *self)
{
    hf_client *client = client_of(self);

    if (self->tried != NULL)
        self->tried(self->user, self->status);
    if (self->asking.until_ms == 0 || atomic_load(&self->cancelled) ||
        !hf__asking_may_retry(self->status)) {
        finish(self);
        return;
    }
    if (hf__timers_start(&client->timers, &self->detail) != HF_OK) {
        self->status = self->detail.status;
        finish(self);
        return;
    }
    arrive(self);
}

static void first_returned(hf__request *request)
{
    hf__waiting *self = request->user;

    hf__asking_read_return(&self->asking, request->status);
    after_first(self);
}

static void first_done(hf__request *request)
{
    hf__waiting *self = request->user;

    read_answer(self);
    if (self->asking.returning)
        give_back(self, first_returned);
    else
        after_first(self);
}

hf__request *hf__waiting_begin(hf__waiting *self)
{
    hf_lock *lock = self->asking.lock;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf__request *request;
    bool asking, busy;
    hf_status status;

    pthread_mutex_lock(&watchdog->mutex);
    status = hf__lock_begin_locked(lock, &busy, &self->detail);
    asking = status == HF_OK && lock->state == HF__LOCK_ACQUIRING;
    if (asking)
        lock->acquiring = self->call;
    pthread_mutex_unlock(&watchdog->mutex);
    if (!asking) {
        self->told(self->user, status, &self->detail);
        hf__free(self);
        return NULL;
    }
    request = ask_first(self);
    if (request != NULL) {
        request->on_done = first_done;
        request->user = self;
    }
    return request;
}

hf__waiting *hf__waiting_new(hf_lock *lock, int64_t wait_ms)
{
    hf__waiting *self = hf__calloc(1, sizeof(*self));
    int64_t until_ms =
        wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);

    if (self == NULL)
        return NULL;
    hf__asking_init(&self->asking, lock, wait_ms, until_ms);
    self->detail = (hf_error)HF_ERROR_INIT;
    hf__timer_init(&self->timer, on_timer);
    return self;
}
