/* SPDX-License-Identifier: Apache-2.0 */
/* acquire.c - see acquire.h. */
#include "lease/acquire.h"

#include "lease/lease.h"
#include "lease/redisson.h"
#include "lease/release.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/order.h"

/* How long a cancelled call may wait for a reply in flight, which says whether
 * the try was granted, and for leaving the queue. */
#define GRACE_MS 100

/* How long the head leaves it to the holder, of this client, to queue it. */
#define PASS_WAIT_MS 1000

static hf__acquire *acquire_of(hf__procedure *procedure)
{
    return hf__container_of(procedure, hf__acquire, procedure);
}

static hf_client *client_of(const hf__acquire *self)
{
    return self->steps.lock->client;
}

static hf__wait_queues *queues_of(const hf__acquire *self)
{
    return &client_of(self)->leases->queues;
}

/* -------------------------------------------------------------------- next */

static hf__next ask_store(hf__acquire *self, hf__acquire_stage stage)
{
    self->stage = stage;
    self->procedure.ask_by_ms = self->steps.limit_ms;
    return HF__ASK;
}

static void use_topic(hf__acquire *self)
{
    hf__procedure_use(&self->procedure, self->steps.lock->keys.topic);
}

/* A request at the head; events of the lock are counted from before it. */
static hf__next ask_at_head(hf__acquire *self)
{
    use_topic(self);
    return ask_store(self, HF__ACQUIRE_ASK);
}

static hf__next be_away(hf__acquire *self, hf__acquire_stage stage,
                        int64_t until_ms)
{
    self->stage = stage;
    self->away = false;
    self->procedure.wake_ms = until_ms;
    return HF__AWAY;
}

static hf__next sleep_for(hf__acquire *self, hf__acquire_stage stage,
                          int64_t pause_ms)
{
    self->stage = stage;
    self->procedure.wake_ms = hf__at_most(
        self->steps.until_ms, hf__clock_after(hf__clock_boot_ms(), pause_ms));
    return HF__SLEEP;
}

/* What it is away for happens soon, and cannot be stopped. */
static hf__next stay_away(hf__acquire *self)
{
    self->procedure.wake_ms = INT64_MAX;
    return HF__STAY;
}

/* What is left to do, in little time once a started call is cancelled. */
static hf__next ask_last(hf__acquire *self, hf__acquire_stage stage,
                         int64_t by_ms)
{
    (void)ask_store(self, stage);
    if (self->started && self->procedure.cancelled)
        by_ms =
            hf__at_most(by_ms, hf__clock_after(hf__clock_boot_ms(), GRACE_MS));
    self->procedure.ask_by_ms = by_ms;
    return HF__ASK;
}

/* Step 6. */
static hf__next give_up(hf__acquire *self)
{
    if (self->status == HF_OK || !self->steps.queued)
        return HF__END;
    return ask_last(self, HF__ACQUIRE_LEAVE, self->steps.limit_ms);
}

static hf__next give_back(hf__acquire *self)
{
    return ask_last(self, HF__ACQUIRE_RETURN, self->steps.return_by_ms);
}

/* A grant counts unless a blocking call was interrupted. */
static hf__next take_grant(hf__acquire *self, hf_status status)
{
    self->status = status;
    if (!self->started && !self->steps.returning)
        self->status =
            hf__steps_check_interrupt(&self->steps, status, &self->detail);
    return self->steps.returning ? give_back(self) : HF__END;
}

/* --------------------------------------------------- steps 4 and 5: the head
 */

static hf__next ask_after_event(hf__acquire *self)
{
    int64_t pause_ms = hf__steps_event_delay(&self->steps);

    self->round = 0;
    if (self->steps.left_ms != 0)
        return sleep_for(self, HF__ACQUIRE_LEFT, pause_ms);
    return pause_ms > 0 ? sleep_for(self, HF__ACQUIRE_PAUSE, pause_ms)
                        : ask_at_head(self);
}

static hf__next sleep_until_event(hf__acquire *self)
{
    hf__steps *steps = &self->steps;

    hf__steps_watch_holder(steps, self->status, self->round);
    self->stage = HF__ACQUIRE_SLEEP;
    self->procedure.wake_ms =
        hf__steps_next_try(steps, self->status, self->round++);
    return HF__SLEEP;
}

static hf__next be_woken(hf__acquire *self)
{
    if (!hf__steps_use_events(&self->steps, self->status))
        return HF__STAY;
    if (hf__steps_take_grant(&self->steps))
        return take_grant(self, HF_OK);
    return ask_after_event(self);
}

/* A release may have come between the first try and the watch. On a server its
 * message is kept in the local wait queue; an embedded store has none. */
static hf__next look_again(hf__acquire *self)
{
    if ((client_of(self)->store->capabilities & HF__CAP_LOCAL) != 0)
        return ask_at_head(self);
    if (hf__steps_take_grant(&self->steps))
        return take_grant(self, HF_OK);
    if (self->steps.turn && hf__steps_use_events(&self->steps, self->status))
        return ask_after_event(self);
    return sleep_until_event(self);
}

/* A release of this client leaves it to other programs first. */
static hf__next begin_at_head(hf__acquire *self)
{
    int64_t pause_ms = hf__steps_yield(&self->steps);

    if (hf__steps_rest(&self->steps) > 0) {
        self->stage = HF__ACQUIRE_LISTEN;
        use_topic(self);
        return HF__LISTEN;
    }
    return pause_ms > 0 ? sleep_for(self, HF__ACQUIRE_PAUSE, pause_ms)
                        : ask_at_head(self);
}

static hf__next rest_at_head(hf__acquire *self)
{
    int64_t rest_ms = hf__steps_rest(&self->steps);

    hf__steps_leave(&self->steps);
    return sleep_for(self, HF__ACQUIRE_LEFT, rest_ms);
}

/* ------------------------------------------------- step 3: the local queue */

static void on_entered(hf__wait_place *place)
{
    hf__resume(&hf__container_of(place, hf__acquire, place)->procedure);
}

/* A try of another thread does not wait for it. */
static void note_waiting(hf__acquire *self)
{
    hf_lock *lock = self->steps.lock;
    hf__watchdog *watchdog = &client_of(self)->leases->watchdog;

    pthread_mutex_lock(&watchdog->mutex);
    lock->waits = true;
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&watchdog->mutex);
}

static hf__next wait_in_turn(hf__acquire *self)
{
    self->status =
        hf__watchdog_start(&client_of(self)->leases->watchdog, &self->detail);
    if (self->status != HF_OK)
        return HF__END;
    self->status = HF_HELD;
    note_waiting(self);
    self->place.pass = hf__steps_offer(&self->steps);
    return be_away(self, HF__ACQUIRE_ENTER, self->steps.until_ms);
}

static bool leave_thread(hf__procedure *procedure)
{
    hf__acquire *self = acquire_of(procedure);
    const hf_lock *lock = self->steps.lock;
    hf_status status;

    self->away = true;
    if (self->stage == HF__ACQUIRE_PASS)
        return hf__wait_queue_await_pass(queues_of(self), &self->place);
    status = hf__wait_queue_join(queues_of(self), lock->keys.topic,
                                 lock->options.priority, &self->place,
                                 &self->detail);
    if (status == HF_HELD)
        return false;
    self->place.pass = NULL; /* there is no holder before it */
    if (status != HF_OK)
        self->status = status;
    return true;
}

static hf__next end_pass(hf__acquire *self)
{
    if (hf__steps_take_pass(&self->steps))
        return take_grant(self, HF_OK);
    if (self->procedure.closed)
        return HF__END;
    if (self->procedure.cancelled || !hf__steps_may_retry(self->status))
        return give_up(self);
    return begin_at_head(self);
}

/* At the head: a release may be taking what it offers. */
static hf__next stop_pass(hf__acquire *self)
{
    self->stage = HF__ACQUIRE_PASS;
    if (hf__wait_queue_stop_pass(queues_of(self), &self->place, self->away))
        return end_pass(self);
    self->away = true;
    return stay_away(self);
}

static hf__next enter_queue(hf__acquire *self)
{
    if (!hf__steps_may_retry(self->status))
        return HF__END;
    self->inside = true;
    self->away = false;
    self->steps.queue = self->place.queue;
    if (self->place.pass == NULL)
        return end_pass(self);
    if (self->procedure.cancelled || self->procedure.closed)
        return stop_pass(self);
    return be_away(
        self, HF__ACQUIRE_PASS,
        hf__at_most(self->steps.until_ms,
                    hf__clock_after(hf__clock_boot_ms(), PASS_WAIT_MS)));
}

/* It is not to wait any more. */
static hf__next stop_waiting(hf__acquire *self)
{
    if (self->stage == HF__ACQUIRE_PASS)
        return stop_pass(self);
    return self->away && !hf__wait_queue_withdraw(queues_of(self), &self->place)
               ? stay_away(self)
               : HF__END;
}

/* It has waited long enough. */
static hf__next time_out(hf__acquire *self)
{
    if (self->stage == HF__ACQUIRE_ENTER)
        self->status = hf__fail(&self->detail, HF_HELD,
                                "timed out queueing behind other calls of this "
                                "client");
    return stop_waiting(self);
}

/* ------------------------------------------------------------------- a try */

/* After a try, or the return of its grant. */
static hf__next decide_next(hf__acquire *self)
{
    const hf__steps *steps = &self->steps;

    if (self->tried != NULL)
        self->tried(self->user, self->status);
    self->tried = NULL;
    if (self->status == HF_OK || !hf__steps_may_retry(self->status) ||
        self->procedure.cancelled || hf__clock_boot_ms() >= steps->until_ms)
        return give_up(self);
    if (!self->inside && !hf__steps_ends(steps))
        return wait_in_turn(self);
    if (self->stage != HF__ACQUIRE_FIRST)
        return sleep_until_event(self);
    use_topic(self);
    return HF__LISTEN;
}

static hf__next read_try(hf__acquire *self)
{
    hf__request *request = &self->steps.request;
    hf_status status = request->status == HF_OK
                           ? HF_OK
                           : hf__fail_copy(&self->detail, &request->error);

    status = hf__steps_read(&self->steps, status, &self->detail);
    return take_grant(self, status) == HF__ASK ? HF__ASK : decide_next(self);
}

static hf__next end_return(hf__acquire *self, hf_status status)
{
    hf__steps_read_return(&self->steps, status);
    return decide_next(self);
}

static hf__next read_answer(hf__acquire *self)
{
    hf__request *request = &self->steps.request;

    if (self->stage == HF__ACQUIRE_RETURN)
        return end_return(self, request->status);
    if (self->stage != HF__ACQUIRE_LEAVE)
        return read_try(self);
    hf__request_done(request);
    return HF__END;
}

static hf__request *fill_request(hf__procedure *procedure)
{
    hf__acquire *self = acquire_of(procedure);

    if (self->stage == HF__ACQUIRE_RETURN)
        hf__steps_fill_return(&self->steps);
    else if (self->stage == HF__ACQUIRE_LEAVE)
        hf__steps_fill_leave(&self->steps);
    else
        hf__steps_fill(&self->steps);
    return &self->steps.request;
}

static void prepare_request(hf__procedure *procedure)
{
    const hf__acquire *self = acquire_of(procedure);

    if (self->stage == HF__ACQUIRE_ASK &&
        self->steps.lock->kind->redisson != NULL)
        hf__redisson_listen(self->steps.lock, self->steps.grant.owner);
}

/* -------------------------------------------------------------- other ends */

static bool acquire_interrupted(const hf__procedure *procedure)
{
    const hf__acquire *self =
        hf__container_of(procedure, const hf__acquire, procedure);

    return hf__interrupted(self->steps.lock, self->steps.mark);
}

static bool waits_locally(const hf__acquire *self)
{
    return self->stage == HF__ACQUIRE_ENTER || self->stage == HF__ACQUIRE_PASS;
}

static hf__next cancel_acquire(hf__acquire *self)
{
    if (self->stage == HF__ACQUIRE_RETURN)
        return give_back(self);
    /* The caller would know nothing of the end: it is sent once more, or for
     * the first time, with all the time that a request has. */
    if (hf__steps_ends(&self->steps) && !self->steps.end.answered)
        return ask_store(self, HF__ACQUIRE_TRY);
    return waits_locally(self) ? stop_waiting(self) : give_up(self);
}

static hf__next close_acquire(hf__acquire *self)
{
    if (hf__steps_may_retry(self->status))
        self->status = hf__fail(&self->detail, HF_UNAVAILABLE,
                                "the client was closed while it waited");
    return waits_locally(self) ? stop_waiting(self) : HF__END;
}

static hf__next fail_acquire(hf__acquire *self)
{
    if (self->stage == HF__ACQUIRE_LEAVE)
        return HF__END;
    if (self->stage == HF__ACQUIRE_RETURN)
        return end_return(self, self->detail.status);
    self->status = self->detail.status;
    return waits_locally(self) ? stop_waiting(self) : give_up(self);
}

/* ------------------------------------------------------------------- steps */

static hf__next after_wait(hf__acquire *self, hf__happened what)
{
    switch (self->stage) {
    case HF__ACQUIRE_ENTER:
        return what == HF__RESUMED ? enter_queue(self) : time_out(self);
    case HF__ACQUIRE_PASS:
        return what == HF__RESUMED ? end_pass(self) : time_out(self);
    case HF__ACQUIRE_FIRST:
        return look_again(self);
    case HF__ACQUIRE_LISTEN:
        return rest_at_head(self);
    case HF__ACQUIRE_LEFT:
        if (what == HF__EVENT && hf__steps_leave_longer(&self->steps))
            return HF__STAY;
        hf__steps_left(&self->steps, what == HF__EVENT);
        return ask_at_head(self);
    case HF__ACQUIRE_SLEEP:
        return what == HF__EVENT ? be_woken(self) : ask_at_head(self);
    case HF__ACQUIRE_PAUSE:
        if (what == HF__EVENT && self->steps.gather_ms == 0)
            return HF__STAY;
        return what == HF__EVENT ? ask_after_event(self) : ask_at_head(self);
    case HF__ACQUIRE_NOTHING:
    case HF__ACQUIRE_TRY:
    case HF__ACQUIRE_ASK:
    case HF__ACQUIRE_RETURN:
    case HF__ACQUIRE_LEAVE:
        break;
    }
    return HF__STAY;
}

static hf__next acquire_step(hf__procedure *procedure, hf__happened what)
{
    hf__acquire *self = acquire_of(procedure);

    switch (what) {
    case HF__ANSWERED:
        return read_answer(self);
    case HF__CANCELLED:
        return cancel_acquire(self);
    case HF__CLOSED:
        return close_acquire(self);
    case HF__FAILED:
        return fail_acquire(self);
    case HF__LISTENS:
    case HF__EVENT:
    case HF__TIME:
    case HF__RESUMED:
    case HF__RETURNED:
        break;
    }
    return after_wait(self, what);
}

static const hf__procedure_kind kind = {.step = acquire_step,
                                        .fill = fill_request,
                                        .leave = leave_thread,
                                        .prepare = prepare_request,
                                        .interrupted = acquire_interrupted,
                                        .grace_ms = GRACE_MS};

/* ------------------------------------------------------------ begin and end */

void hf__acquire_init(hf__acquire *self, hf_lock *lock, int64_t wait_ms,
                      int64_t until_ms, hf__interrupt_mark mark, bool started)
{
    hf__procedure_init(&self->procedure, lock->client, &kind, &self->detail);
    hf__steps_init(&self->steps, lock, wait_ms, until_ms, mark);
    self->procedure.until_ms = until_ms;
    self->procedure.about = lock;
    self->stage = HF__ACQUIRE_NOTHING;
    self->started = started;
    self->away = self->inside = false;
    self->round = 0;
    self->status = HF_HELD;
    /* Failed tries before a success fill it; most calls have none. */
    self->detail.struct_size = sizeof(self->detail);
    self->detail.status = HF_OK;
    self->detail.sys_errno = 0;
    self->detail.message[0] = '\0';
    self->place.entered = on_entered;
    self->place.pass = NULL;
    self->place.arrival = hf__wait_queue_arrive(queues_of(self));
    self->tried = NULL;
}

/* Is it the head at once, as none of the client waits before it? */
static bool heads_queue(hf__acquire *self)
{
    const hf_lock *lock = self->steps.lock;

    self->inside = hf__wait_queue_try(queues_of(self), lock->keys.topic,
                                      lock->options.priority, &self->place,
                                      &self->detail) == HF_OK;
    if (self->inside)
        self->steps.queue = self->place.queue;
    return self->inside;
}

/* What is to be ended waits for no one: if others wait, it does not queue. */
static hf__next end_at_once(hf__acquire *self)
{
    if (!hf__steps_listens(&self->steps) || !heads_queue(self))
        return ask_store(self, HF__ACQUIRE_TRY);
    note_waiting(self);
    return self->started ? ask_store(self, HF__ACQUIRE_FIRST)
                         : ask_at_head(self);
}

/* What renews it, or has the thread of a started one that may wait. */
static hf_status start_watchdog(hf__acquire *self)
{
    const hf_lock *lock = self->steps.lock;

    return lock->watched || (self->started && self->steps.until_ms > 0)
               ? hf__watchdog_start(&lock->client->leases->watchdog,
                                    &self->detail)
               : HF_OK;
}

hf__next hf__acquire_first(hf__acquire *self)
{
    hf__steps *steps = &self->steps;
    hf_status status = start_watchdog(self);

    self->stage = HF__ACQUIRE_TRY;
    if (status != HF_OK) {
        self->status = status;
        return HF__END;
    }
    if (steps->until_ms == 0)
        return ask_store(self, HF__ACQUIRE_TRY);
    if (hf__steps_ends(steps))
        return end_at_once(self);
    if (hf__steps_yield(steps) > 0 || hf__steps_rest(steps) > 0)
        return wait_in_turn(self);
    if (!hf__steps_listens(steps))
        return hf__wait_queue_exists(queues_of(self), steps->lock->keys.topic,
                                     steps->lock->options.priority)
                   ? wait_in_turn(self)
                   : ask_store(self, HF__ACQUIRE_TRY);
    /* A started one need not count events first, as it has no thread to do so.
     */
    return self->started && heads_queue(self)
               ? ask_store(self, HF__ACQUIRE_FIRST)
               : wait_in_turn(self);
}

hf__next hf__acquire_begin(hf__acquire *self, int64_t lease_ms, hf_call *call)
{
    hf_lock *lock = self->steps.lock;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool acquires, busy;

    self->status = HF_OK;
    if (hf__lease_wants_renewal(lock, lease_ms))
        self->status = hf__watchdog_start(watchdog, &self->detail);
    pthread_mutex_lock(&watchdog->mutex);
    if (self->status == HF_OK)
        hf__steps_let_go_locked(lock, &self->steps.end);
    if (self->status == HF_OK)
        self->status =
            hf__lock_begin_locked(lock, lease_ms, &busy, &self->detail);
    acquires = self->status == HF_OK && lock->state == HF__LOCK_ACQUIRING;
    if (acquires)
        lock->acquiring = call;
    pthread_mutex_unlock(&watchdog->mutex);
    if (!acquires)
        return HF__END;
    HF__LOCK_PROBE(acquire__begin, lock, lock->lease_ms);
    self->status = HF_HELD;
    return hf__acquire_first(self);
}

/* A take that ends nothing, and fails, leaves it to the next call. */
static void note_end_locked(hf_lock *lock, const hf__steps *steps,
                            hf_status status)
{
    if (status == HF_OK || steps->end.answered) {
        lock->unended = false;
    } else if (hf__steps_ends(steps)) {
        lock->unended = true;
        lock->unended_sent = steps->end.again || status != HF_UNAVAILABLE;
        lock->unended_ms = steps->end.valid_ms;
    }
}

/* The state of the handle, which another thread may free afterwards if the call
 * is a started one. */
static void end_state(hf__acquire *self, hf_status status)
{
    hf_lock *lock = self->steps.lock;
    hf_client *client = lock->client;
    hf__watchdog *watchdog = &client->leases->watchdog;
    bool watched, deferred;

    if (status != HF_OK)
        HF__LOCK_PROBE(acquire__refused, lock, status);
    pthread_mutex_lock(&watchdog->mutex);
    if (status == HF_OK)
        hf__lock_hold_locked(lock, &self->steps.grant);
    else
        lock->state = HF__LOCK_FREE;
    note_end_locked(lock, &self->steps, status);
    lock->acquiring = NULL;
    watched = lock->watched;
    deferred = lock->free_deferred;
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&watchdog->mutex);
    if (status == HF_OK && watched)
        hf__registry_note(&client->leases->registry);
    if (deferred)
        hf__lock_free_deferred(lock);
}

hf_status hf__acquire_end(hf__acquire *self, hf_error *err)
{
    hf__steps *steps = &self->steps;
    hf_status status = self->status;

    if (self->stage == HF__ACQUIRE_NOTHING)
        return status == HF_OK ? HF_OK : hf__fail_copy(err, &self->detail);
    if (self->procedure.cancelled && hf__steps_may_retry(status) &&
        !steps->unresolved && !hf__steps_ends(steps))
        status = self->started
                     ? hf__fail(&self->detail, HF_CANCELLED, "cancelled: %s",
                                steps->lock->kind->refused)
                     : hf__fail(&self->detail, HF_CANCELLED, HF__INTERRUPTED);
    if (status == HF_HELD && hf__steps_ends(steps)) /* it was not sent */
        status = hf__fail(&self->detail, HF_UNAVAILABLE,
                          "cancelled before what it had was ended");
    if (self->inside)
        hf__wait_queue_leave(
            queues_of(self), steps->queue,
            status == HF_OK && steps->clock_us != 0 ? steps->lock : NULL);
    status = hf__steps_end(steps, status, &self->detail, err);
    end_state(self, status);
    return status;
}
