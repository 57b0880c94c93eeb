/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_async.c - see acquire_async.h. */
#include "lease/acquire_async.h"

#include "lease/redisson.h"
#include "lease/release.h"
#include "lease/watchdog.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* A try on a local store runs on the loop thread, which must not be late for
 * renewals; the next try makes up for it. */
#define LOCAL_TRY_MS 20

/* How long a cancelled call may wait for a reply in flight, which says whether
 * the try was granted, and for leaving the queue. */
#define GRACE_MS 100

static hf_client *client_of(const hf__acquire *self)
{
    return self->steps.lock->client;
}

/* --------------------------------------------------------------------- end */

static void finish(hf__acquire *self)
{
    hf_lock *lock = self->steps.lock;
    hf_client *client = lock->client;
    hf__watchdog *watchdog = &client->leases->watchdog;
    hf_error error = HF_ERROR_INIT;
    bool watched;
    hf_status status = self->status;
    bool deferred;

    if (atomic_load(&self->cancelled) && hf__steps_may_retry(status) &&
        !self->steps.unresolved)
        status = hf__fail(&self->detail, HF_CANCELLED, "cancelled: %s",
                          self->steps.lock->kind->refused);
    if (self->inside)
        hf__wait_queue_leave(&client->leases->queues, self->place.queue, NULL);
    status = hf__steps_end(&self->steps, status, &self->detail, &error);
    pthread_mutex_lock(&watchdog->mutex);
    if (status == HF_OK)
        hf__lock_hold_locked(lock, &self->steps.grant);
    else
        lock->state = HF__LOCK_FREE;
    lock->acquiring = NULL;
    watched = lock->watched; /* the lock may be freed after this */
    pthread_cond_broadcast(&lock->changed);
    deferred = lock->free_deferred;
    pthread_mutex_unlock(&watchdog->mutex);
    if (status == HF_OK && watched)
        hf__registry_note(&client->leases->registry);
    if (deferred)
        hf__lock_free_deferred(lock);
    self->done(self->user, status, &error);
    hf__free(self);
}

/* On the loop thread: stop timer and watch, leave the queue, finish. */
static void close_up(hf__acquire *self)
{
    hf_client *client = client_of(self);

    if (self->listed)
        hf__pending_remove(&self->pending);
    hf__timer_stop(&client->timers, &self->timer);
    if (self->watching)
        client->store->ops->event_unwatch(client->store, &self->watch);
    finish(self);
}

/* ------------------------------------------------------------------- tries */

static void run_posted(hf__task *task);

static void post(hf__acquire *self)
{
    self->posted = (hf__task){.run = run_posted};
    hf__loop_post(client_of(self)->loop, &self->posted);
}

static void request_done(hf__request *request)
{
    post(request->user);
}

/* Submit the filled request; false: not possible, see `status`. */
static bool submit(hf__acquire *self)
{
    hf_client *client = client_of(self);
    hf__request *request = &self->steps.request;
    int64_t limit_ms = self->steps.limit_ms;

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

static void give_up(hf__acquire *self)
{
    hf_error detail = self->detail;
    hf_status status = self->status;

    if (status != HF_OK && self->steps.queued) {
        hf__steps_fill_leave(&self->steps);
        if (submit(self)) {
            self->stage = HF__ACQUIRE_LEAVING;
            self->status = status;
            self->detail = detail;
            return;
        }
        hf__request_done(&self->steps.request);
    }
    self->status = status;
    self->detail = detail;
    close_up(self);
}

static void try_again(hf__acquire *self)
{
    hf__timer_stop(&client_of(self)->timers, &self->timer);
    self->stage = HF__ACQUIRE_TRYING;
    self->moved = false;
    hf__redisson_listen(self->steps.lock, self->steps.grant.owner);
    hf__steps_fill(&self->steps);
    if (!submit(self))
        give_up(self);
}

static void read_answer(hf__acquire *self)
{
    hf__request *request = &self->steps.request;

    self->status = request->status == HF_OK
                       ? HF_OK
                       : hf__fail_copy(&self->detail, &request->error);
    self->status = hf__steps_read(&self->steps, self->status, &self->detail);
}

/* false: no release has given it to this call. */
static bool take_grant(hf__acquire *self)
{
    if (!hf__steps_take_grant(&self->steps))
        return false;
    self->status = HF_OK;
    close_up(self);
    return true;
}

static void try_after(hf__acquire *self, int64_t pause_ms)
{
    self->stage = HF__ACQUIRE_SLEEPING;
    if (pause_ms == 0 ||
        !hf__timer_set(
            &client_of(self)->timers, &self->timer,
            hf__at_most(self->steps.until_ms,
                        hf__clock_after(hf__clock_boot_ms(), pause_ms))))
        try_again(self);
}

static void handle_event(hf__acquire *self)
{
    if (take_grant(self))
        return;
    self->round = 0;
    try_after(self, hf__steps_event_delay(&self->steps));
}

static void end_closed(hf__acquire *self)
{
    self->status = hf__fail(&self->detail, HF_UNAVAILABLE,
                            "the client was closed while it waited");
    close_up(self);
}

static bool is_closing(const hf__acquire *self)
{
    return hf__life_is_closing(&client_of(self)->life);
}

static void sleep_until_event(hf__acquire *self)
{
    hf__timers *timers = &client_of(self)->timers;

    if (is_closing(self) && hf__steps_may_retry(self->status)) {
        end_closed(self);
        return;
    }
    if (!hf__steps_may_retry(self->status) || self->cancelled ||
        hf__clock_boot_ms() >= self->steps.until_ms) {
        give_up(self);
        return;
    }
    if (take_grant(self))
        return;
    if ((self->moved || self->steps.turn) &&
        hf__steps_use_events(&self->steps, self->status)) {
        handle_event(self);
        return;
    }
    self->stage = HF__ACQUIRE_SLEEPING;
    hf__steps_watch_holder(&self->steps, self->status, self->round);
    if (!hf__timer_set(
            timers, &self->timer,
            hf__steps_next_try(&self->steps, self->status, self->round++))) {
        self->status = hf__fail(&self->detail, HF_NO_MEMORY, "a timer");
        give_up(self);
    }
}

/* Release the grant; done() is called, perhaps before this returns. */
static void give_back(hf__acquire *self, void (*done)(hf__request *request))
{
    hf_client *client = client_of(self);
    hf__request *request = &self->steps.request;
    hf_status status;

    hf__steps_fill_return(&self->steps);
    request->on_done = done;
    request->user = self;
    status = hf__request_stamp(client, request, self->steps.return_by_ms,
                               &request->error);
    request->status = status;
    if (status == HF_OK)
        client->store->ops->submit(client->store, &request, 1);
    else
        done(request);
}

static void on_moved(hf__watch *watch)
{
    hf__acquire *self = hf__container_of(watch, hf__acquire, watch);

    self->moved = true;
    if (self->stage != HF__ACQUIRE_SLEEPING ||
        !hf__steps_use_events(&self->steps, self->status))
        return;
    handle_event(self);
}

/* -------------------------------------------------------- local wait queue */

static void be_head(hf__acquire *self)
{
    self->inside = true;
    self->steps.queue = self->place.queue;
}

/* false: it has failed. */
static bool watch(hf__acquire *self)
{
    hf_client *client = client_of(self);
    hf_status status;

    self->watch = (hf__watch){.moved = on_moved};
    status = client->store->ops->event_watch(client->store,
                                             self->steps.lock->keys.topic,
                                             &self->watch, &self->detail);
    self->watching = status == HF_OK;
    if (status == HF_OK)
        return true;
    self->status = status;
    give_up(self);
    return false;
}

static void enter(hf__acquire *self)
{
    be_head(self);
    hf__timer_stop(&client_of(self)->timers, &self->timer);
    if (is_closing(self))
        end_closed(self);
    else if (self->cancelled)
        close_up(self);
    else if (watch(self))
        try_after(self, hf__redisson_yield(self->steps.lock));
}

static void on_entered(hf__wait_place *place)
{
    post(hf__container_of(place, hf__acquire, place));
}

/* A release may have come between the first try and the watch. On a server its
 * message is kept in the local wait queue; an embedded store has none. */
static void look_again(hf__acquire *self)
{
    if ((client_of(self)->store->capabilities & HF__CAP_LOCAL) != 0)
        try_again(self);
    else
        sleep_until_event(self);
}

/* The client is being closed. A request under way is completed by that, and a
 * place that is about to be the head is entered. */
static void on_closing(hf__pending *pending)
{
    hf__acquire *self = hf__container_of(pending, hf__acquire, pending);

    self->listed = false;
    if (self->stage == HF__ACQUIRE_SLEEPING ||
        (self->stage == HF__ACQUIRE_QUEUED &&
         hf__wait_queue_withdraw(&client_of(self)->leases->queues,
                                 &self->place)))
        end_closed(self);
}

/* The first step on the loop thread, after the first try. */
static void join_queue(hf__acquire *self)
{
    hf_client *client = client_of(self);
    hf_status status;

    if (is_closing(self)) {
        end_closed(self);
        return;
    }
    self->pending.close = on_closing;
    self->listed = true;
    hf__pending_add(client, &self->pending);
    self->stage = HF__ACQUIRE_QUEUED;
    self->place.entered = on_entered;
    if (self->inside) { /* the first try has queued */
        self->stage = HF__ACQUIRE_SLEEPING;
        if (!hf__steps_may_retry(self->status) || self->cancelled)
            give_up(self);
        else if (watch(self))
            look_again(self);
        return;
    }
    if (atomic_load(&self->cancelled)) { /* since the first try */
        close_up(self);
        return;
    }
    status = HF_NO_MEMORY;
    if (hf__timer_set(&client->timers, &self->timer, self->steps.until_ms))
        status = hf__wait_queue_join(
            &client->leases->queues, self->steps.lock->keys.topic,
            self->steps.lock->options.priority, &self->place, &self->detail);
    else
        hf__fail(&self->detail, HF_NO_MEMORY, "a timer");
    if (status == HF_OK) {
        enter(self);
    } else if (status != HF_HELD) {
        self->status = status;
        close_up(self);
    }
}

/* Leave the local wait queue; false: at its head, or entered() is about to be
 * called. */
static bool withdraw(hf__acquire *self)
{
    if (!hf__wait_queue_withdraw(&client_of(self)->leases->queues,
                                 &self->place))
        return false;
    self->status = hf__fail(&self->detail, HF_HELD,
                            "timed out queueing behind other calls of this "
                            "client");
    close_up(self);
    return true;
}

/* Make the request complete now. */
static void cancel_request(hf__acquire *self)
{
    hf__store *store = client_of(self)->store;

    if (store->ops->cancel != NULL)
        store->ops->cancel(store, &self->steps.request);
}

static void on_timer(hf__timer *timer)
{
    hf__acquire *self = hf__container_of(timer, hf__acquire, timer);

    if (self->stage == HF__ACQUIRE_SLEEPING)
        try_again(self);
    else if (self->stage == HF__ACQUIRE_QUEUED)
        withdraw(self);
    else
        cancel_request(self);
}

static void run_posted(hf__task *task)
{
    hf__acquire *self = hf__container_of(task, hf__acquire, posted);

    switch (self->stage) {
    case HF__ACQUIRE_FIRST:
        join_queue(self);
        break;
    case HF__ACQUIRE_QUEUED:
        enter(self);
        break;
    case HF__ACQUIRE_TRYING:
        read_answer(self);
        if (self->steps.returning) {
            self->stage = HF__ACQUIRE_RETURNING;
            give_back(self, request_done);
            break;
        }
        sleep_until_event(self);
        break;
    case HF__ACQUIRE_RETURNING:
        hf__steps_read_return(&self->steps, self->steps.request.status);
        sleep_until_event(self);
        break;
    case HF__ACQUIRE_LEAVING:
        hf__request_done(&self->steps.request);
        close_up(self);
        break;
    case HF__ACQUIRE_SLEEPING:
        break; /* not posted in this stage */
    }
}

void hf__acquire_cancel(hf__acquire *self)
{
    hf__timers *timers = &client_of(self)->timers;

    if (self->stage == HF__ACQUIRE_SLEEPING)
        give_up(self);
    else if (self->stage == HF__ACQUIRE_QUEUED)
        withdraw(self);
    else if (!hf__timer_set(timers, &self->timer,
                            hf__clock_boot_ms() + GRACE_MS))
        cancel_request(self);
}

/* ------------------------------------------------------------------- begin */

/* The first try queues if its client is subscribed and none waits before. */
static void queue_first(hf__acquire *self)
{
    hf_lock *lock = self->steps.lock;

    if (self->steps.until_ms > 0 && hf__steps_listens(&self->steps) &&
        hf__wait_queue_try(&lock->client->leases->queues, lock->keys.topic,
                           lock->options.priority, &self->place, NULL) == HF_OK)
        be_head(self);
}

/* In state ACQUIRING: the request of the first try. */
static hf__request *ask_first(hf__acquire *self)
{
    hf_lock *lock = self->steps.lock;
    hf_status status = HF_OK;

    self->stage = HF__ACQUIRE_FIRST;
    queue_first(self);
    if (lock->watched || self->inside)
        status =
            hf__watchdog_start(&lock->client->leases->watchdog, &self->detail);
    hf__steps_fill(&self->steps);
    if (status == HF_OK)
        status = hf__request_stamp(lock->client, &self->steps.request,
                                   self->steps.limit_ms, &self->detail);
    if (status == HF_OK)
        return &self->steps.request;
    self->status = status;
    finish(self);
    return NULL;
}

static void wait_after_first(hf__acquire *self)
{
    if (hf__timers_start(&client_of(self)->timers, &self->detail) == HF_OK) {
        post(self);
        return;
    }
    self->status = self->detail.status;
    finish(self);
}

static void after_first(hf__acquire *self)
{
    if (self->tried != NULL)
        self->tried(self->user, self->status);
    if (self->status == HF_OK ||
        (!self->steps.queued &&
         (self->steps.until_ms == 0 || atomic_load(&self->cancelled) ||
          !hf__steps_may_retry(self->status))))
        finish(self);
    else
        wait_after_first(self);
}

static void first_returned(hf__request *request)
{
    hf__acquire *self = request->user;

    hf__steps_read_return(&self->steps, request->status);
    after_first(self);
}

static void first_done(hf__request *request)
{
    hf__acquire *self = request->user;

    read_answer(self);
    if (self->steps.returning)
        give_back(self, first_returned);
    else
        after_first(self);
}

/* A local release leaves the lock to other programs first: go without the first
 * try. */
static bool yields(hf__acquire *self)
{
    hf_lock *lock = self->steps.lock;

    if (self->steps.until_ms == 0 || hf__redisson_yield(lock) == 0 ||
        hf__watchdog_start(&lock->client->leases->watchdog, &self->detail) !=
            HF_OK)
        return false;
    self->stage = HF__ACQUIRE_FIRST;
    self->status = hf__fail(&self->detail, HF_HELD, "%s", lock->kind->refused);
    hf__request_init(&self->steps.request);
    wait_after_first(self);
    return true;
}

hf__request *hf__acquire_begin(hf__acquire *self)
{
    hf_lock *lock = self->steps.lock;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf__request *request;
    bool acquires, busy;
    hf_status status;

    pthread_mutex_lock(&watchdog->mutex);
    status = hf__lock_begin_locked(lock, self->lease_ms, &busy, &self->detail);
    acquires = status == HF_OK && lock->state == HF__LOCK_ACQUIRING;
    if (acquires)
        lock->acquiring = self->call;
    pthread_mutex_unlock(&watchdog->mutex);
    if (!acquires) {
        self->done(self->user, status, &self->detail);
        hf__free(self);
        return NULL;
    }
    if (yields(self))
        return NULL;
    request = ask_first(self);
    if (request != NULL) {
        request->on_done = first_done;
        request->user = self;
    }
    return request;
}

hf__acquire *hf__acquire_new(hf_lock *lock, int64_t wait_ms, int64_t lease_ms)
{
    hf__acquire *self = hf__calloc(1, sizeof(*self));
    int64_t until_ms =
        wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);

    if (self == NULL)
        return NULL;
    hf__steps_init(&self->steps, lock, wait_ms, until_ms);
    self->detail = (hf_error)HF_ERROR_INIT;
    self->lease_ms = lease_ms;
    hf__timer_init(&self->timer, on_timer);
    return self;
}
