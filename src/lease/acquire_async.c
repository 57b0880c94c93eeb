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

/* How long a cancelled call may wait for a reply in flight, which says whether
 * the try was granted, and for leaving the queue. */
#define GRACE_MS 100

static hf__acquire *acquire_of(hf__stepper *stepper)
{
    return hf__container_of(stepper, hf__acquire, stepper);
}

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

static void close_up(hf__acquire *self)
{
    (void)hf__stepper_stop(&self->stepper);
    finish(self);
}

/* ------------------------------------------------------------------- tries */

static hf__request *fill(hf__stepper *stepper)
{
    hf__acquire *self = acquire_of(stepper);
    hf__steps *steps = &self->steps;

    if (self->request == HF__ACQUIRE_RETURN) {
        hf__steps_fill_return(steps);
    } else if (self->request == HF__ACQUIRE_LEAVE) {
        hf__steps_fill_leave(steps);
    } else {
        hf__redisson_listen(steps->lock, steps->grant.owner);
        hf__steps_fill(steps);
    }
    return &steps->request;
}

static void ask(hf__acquire *self, int64_t by_ms)
{
    if (atomic_load(&self->cancelled))
        by_ms =
            hf__at_most(by_ms, hf__clock_after(hf__clock_boot_ms(), GRACE_MS));
    hf__stepper_ask(&self->stepper, by_ms, 0);
}

static void give_up(hf__acquire *self)
{
    if (self->status == HF_OK || !self->steps.queued) {
        close_up(self);
        return;
    }
    self->request = HF__ACQUIRE_LEAVE;
    ask(self, self->steps.limit_ms);
}

static void try_again(hf__acquire *self)
{
    self->request = HF__ACQUIRE_TRY;
    ask(self, self->steps.limit_ms);
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
    self->stepper.moved = false;
    if (pause_ms == 0)
        try_again(self);
    else
        hf__stepper_sleep(
            &self->stepper,
            hf__at_most(self->steps.until_ms,
                        hf__clock_after(hf__clock_boot_ms(), pause_ms)));
}

static void try_after_event(hf__acquire *self)
{
    self->round = 0;
    try_after(self, hf__steps_event_delay(&self->steps));
}

static void end_closed(hf__acquire *self)
{
    self->status = hf__fail(&self->detail, HF_UNAVAILABLE,
                            "the client was closed while it waited");
    close_up(self);
}

static void sleep_until_event(hf__acquire *self)
{
    if (hf__stepper_is_closing(&self->stepper) &&
        hf__steps_may_retry(self->status)) {
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
    if ((self->stepper.moved || self->steps.turn) &&
        hf__steps_use_events(&self->steps, self->status)) {
        try_after_event(self);
        return;
    }
    self->stepper.moved = false;
    hf__steps_watch_holder(&self->steps, self->status, self->round);
    hf__stepper_sleep(
        &self->stepper,
        hf__steps_next_try(&self->steps, self->status, self->round++));
}

/* A pause has ended, or another library has taken what was left to it. */
static void end_leaving(hf__acquire *self, bool by_event)
{
    hf__steps_left(&self->steps, by_event);
    try_again(self);
}

/* Leave the local wait queue, unless it is at its head or is about to enter. */
static void withdraw(hf__acquire *self)
{
    if (!hf__wait_queue_withdraw(&client_of(self)->leases->queues,
                                 &self->place))
        return;
    self->status = hf__fail(&self->detail, HF_HELD,
                            "timed out queueing behind other calls of this "
                            "client");
    close_up(self);
}

static void woken(hf__stepper *stepper, bool by_event)
{
    hf__acquire *self = acquire_of(stepper);

    if (stepper->state == HF__STEPPER_AWAY)
        withdraw(self);
    else if (!by_event || self->steps.left_ms != 0)
        end_leaving(self, by_event);
    else if (hf__steps_use_events(&self->steps, self->status) &&
             !take_grant(self))
        try_after_event(self);
}

/* -------------------------------------------------------- local wait queue */

static void be_head(hf__acquire *self)
{
    self->inside = true;
    self->steps.queue = self->place.queue;
}

static bool watch(hf__acquire *self)
{
    return hf__stepper_listen(&self->stepper, self->steps.lock->keys.topic);
}

/* A release of this client leaves it to other programs first. */
static int64_t pause_before(hf__acquire *self)
{
    int64_t rest_ms = hf__steps_rest(&self->steps);

    if (rest_ms <= 0)
        return hf__redisson_yield(self->steps.lock);
    hf__steps_leave(&self->steps);
    return rest_ms;
}

static void enter(hf__acquire *self)
{
    be_head(self);
    if (hf__stepper_is_closing(&self->stepper))
        end_closed(self);
    else if (self->cancelled)
        close_up(self);
    else if (watch(self))
        try_after(self, pause_before(self));
}

static void on_entered(hf__wait_place *place)
{
    hf__stepper_post(&hf__container_of(place, hf__acquire, place)->stepper);
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
static void closing(hf__stepper *stepper)
{
    hf__acquire *self = acquire_of(stepper);

    if (stepper->state == HF__STEPPER_SLEEPING ||
        (stepper->state == HF__STEPPER_AWAY &&
         hf__wait_queue_withdraw(&client_of(self)->leases->queues,
                                 &self->place)))
        end_closed(self);
}

/* The first step on the loop thread, after the first try. */
static void join_queue(hf__acquire *self)
{
    hf_client *client = client_of(self);
    hf_status status;

    if (hf__stepper_is_closing(&self->stepper)) {
        end_closed(self);
        return;
    }
    self->place.entered = on_entered;
    if (self->inside) { /* the first try has queued */
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
    if (hf__stepper_leave(&self->stepper, self->steps.until_ms))
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

static void after_first(hf__acquire *self);

static void after_return(hf__acquire *self, hf_status status)
{
    self->request = HF__ACQUIRE_TRY;
    hf__steps_read_return(&self->steps, status);
    if (self->stepper.state == HF__STEPPER_FIRST)
        after_first(self);
    else
        sleep_until_event(self);
}

static void after_leaving(hf__acquire *self)
{
    hf__request_done(&self->steps.request);
    close_up(self);
}

static void after_try(hf__acquire *self)
{
    read_answer(self);
    if (!self->steps.returning) {
        sleep_until_event(self);
        return;
    }
    self->request = HF__ACQUIRE_RETURN;
    ask(self, self->steps.return_by_ms);
}

static void answered(hf__stepper *stepper)
{
    hf__acquire *self = acquire_of(stepper);

    if (self->request == HF__ACQUIRE_RETURN)
        after_return(self, self->steps.request.status);
    else if (self->request == HF__ACQUIRE_LEAVE)
        after_leaving(self);
    else
        after_try(self);
}

static void failed(hf__stepper *stepper, hf_status status, const char *why)
{
    hf__acquire *self = acquire_of(stepper);

    if (self->request == HF__ACQUIRE_RETURN) {
        after_return(self, status);
    } else if (self->request == HF__ACQUIRE_LEAVE) {
        after_leaving(self);
    } else {
        self->status = hf__fail(&self->detail, status, "%s", why);
        give_up(self);
    }
}

static void posted(hf__stepper *stepper)
{
    hf__acquire *self = acquire_of(stepper);

    if (stepper->state == HF__STEPPER_FIRST)
        join_queue(self);
    else
        enter(self);
}

static const hf__stepper_kind stepping = {.fill = fill,
                                          .answered = answered,
                                          .posted = posted,
                                          .woken = woken,
                                          .failed = failed,
                                          .closing = closing};

void hf__acquire_cancel(hf__acquire *self)
{
    if (self->stepper.state == HF__STEPPER_SLEEPING)
        give_up(self);
    else if (self->stepper.state == HF__STEPPER_AWAY)
        withdraw(self);
    else
        hf__stepper_cancel(&self->stepper, GRACE_MS);
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
        hf__stepper_post(&self->stepper);
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
    after_return(acquire_of(request->user), request->status);
}

static void first_done(hf__request *request)
{
    hf__acquire *self = acquire_of(request->user);

    read_answer(self);
    if (!self->steps.returning) {
        after_first(self);
        return;
    }
    self->request = HF__ACQUIRE_RETURN;
    hf__stepper_submit(&self->stepper, fill(&self->stepper),
                       self->steps.return_by_ms, first_returned);
}

/* A local release leaves the lock to other programs first: go without the first
 * try. */
static bool yields(hf__acquire *self)
{
    hf_lock *lock = self->steps.lock;

    if (self->steps.until_ms == 0 ||
        (hf__redisson_yield(lock) == 0 && hf__steps_rest(&self->steps) <= 0) ||
        hf__watchdog_start(&lock->client->leases->watchdog, &self->detail) !=
            HF_OK)
        return false;
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
    hf_status status = HF_OK;

    if (hf__lease_wants_renewal(lock, self->lease_ms))
        status = hf__watchdog_start(watchdog, &self->detail);
    pthread_mutex_lock(&watchdog->mutex);
    if (status == HF_OK)
        status =
            hf__lock_begin_locked(lock, self->lease_ms, &busy, &self->detail);
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
        request->user = &self->stepper;
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
    hf__stepper_init(&self->stepper, lock->client, &stepping);
    return self;
}
