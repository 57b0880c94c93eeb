/* SPDX-License-Identifier: Apache-2.0 */
/* stepper.c - see stepper.h. */
#include "core/stepper.h"

#include <assert.h>

#include "core/client.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/order.h"

/* A request to a local store runs on the loop thread, which must not be late
 * for renewals. One that could not begin is tried again. */
#define LOCAL_TRY_MS 20
#define LOCAL_PAUSE_MS 5

static bool is_local(const hf__stepper *self)
{
    return (self->client->store->capabilities & HF__CAP_LOCAL) != 0;
}

bool hf__stepper_is_closing(const hf__stepper *self)
{
    return hf__life_is_closing(&self->client->life);
}

/* ---------------------------------------------------------------- requests */

void hf__stepper_submit(hf__stepper *self, hf__request *request,
                        int64_t limit_ms, void (*on_done)(hf__request *request))
{
    hf__store *store = self->client->store;
    hf_error detail = HF_ERROR_INIT;
    hf_status status =
        hf__request_stamp(self->client, request, limit_ms, &detail);

    self->request = request;
    if (status != HF_OK) {
        self->kind->failed(self, status, detail.message);
        return;
    }
    request->on_done = on_done;
    request->user = self;
    store->ops->submit(store, &request, 1);
}

static void request_done(hf__request *request)
{
    hf__stepper_post(request->user);
}

static void send_request(hf__stepper *self)
{
    int64_t limit_ms = self->by_ms;

    self->state = HF__STEPPER_AT_STORE;
    if (is_local(self))
        limit_ms = hf__at_most(
            limit_ms, hf__clock_after(hf__clock_boot_ms(), LOCAL_TRY_MS));
    hf__stepper_submit(self, self->kind->fill(self), limit_ms, request_done);
}

static void cancel_request(hf__stepper *self)
{
    hf__store *store = self->client->store;

    if (store->ops->cancel != NULL)
        store->ops->cancel(store, self->request);
}

/* ------------------------------------------------------------------- waits */

static bool set_timer(hf__stepper *self, int64_t at_ms)
{
    assert(self->listed);
    return hf__timer_set(&self->client->timers, &self->timer, at_ms);
}

static void on_timer(hf__timer *timer)
{
    hf__stepper *self = hf__container_of(timer, hf__stepper, timer);

    if (self->state == HF__STEPPER_PAUSED)
        send_request(self);
    else if (self->state == HF__STEPPER_AT_STORE)
        cancel_request(self);
    else
        self->kind->woken(self, false);
}

void hf__stepper_wake(hf__stepper *self)
{
    self->moved = true;
    if (self->state == HF__STEPPER_SLEEPING)
        self->kind->woken(self, true);
}

static void on_moved(hf__watch *watch)
{
    hf__stepper_wake(hf__container_of(watch, hf__stepper, watch));
}

bool hf__stepper_listen(hf__stepper *self, hf_bytes topic)
{
    hf__store *store = self->client->store;
    hf_error detail = HF_ERROR_INIT;

    if (self->watching)
        return true;
    self->watch = (hf__watch){.moved = on_moved};
    self->watching =
        store->ops->event_watch(store, topic, &self->watch, &detail) == HF_OK;
    if (self->watching)
        return true;
    self->kind->failed(self, detail.status, detail.message);
    return false; /* it may be gone */
}

static void pause(hf__stepper *self, int64_t pause_ms)
{
    self->state = HF__STEPPER_PAUSED;
    if (!set_timer(self, hf__clock_after(hf__clock_boot_ms(), pause_ms)))
        self->kind->failed(self, HF_NO_MEMORY, "a timer");
}

void hf__stepper_ask(hf__stepper *self, int64_t by_ms, int64_t pause_ms)
{
    self->by_ms = by_ms;
    self->moved = false;
    hf__timer_stop(&self->client->timers, &self->timer);
    if (pause_ms > 0)
        pause(self, pause_ms);
    else
        send_request(self);
}

void hf__stepper_sleep(hf__stepper *self, int64_t until_ms)
{
    self->state = HF__STEPPER_SLEEPING;
    if (self->moved)
        self->kind->woken(self, true);
    else if (!set_timer(self, until_ms))
        self->kind->failed(self, HF_NO_MEMORY, "a timer");
}

bool hf__stepper_leave(hf__stepper *self, int64_t until_ms)
{
    self->state = HF__STEPPER_AWAY;
    return set_timer(self, until_ms);
}

void hf__stepper_cancel(hf__stepper *self, int64_t after_ms)
{
    if (!self->listed ||
        !set_timer(self, hf__clock_after(hf__clock_boot_ms(), after_ms)))
        cancel_request(self);
}

/* ------------------------------------------------------------ begin and end */

static void halt(hf__stepper *self)
{
    hf__store *store = self->client->store;

    self->listed = false;
    hf__timer_stop(&self->client->timers, &self->timer);
    if (self->watching)
        store->ops->event_unwatch(store, &self->watch);
    self->watching = false;
}

bool hf__stepper_stop(hf__stepper *self)
{
    if (!self->listed)
        return false;
    hf__pending_remove(&self->pending);
    halt(self);
    return true;
}

static void on_closing(hf__pending *pending)
{
    hf__stepper *self = hf__container_of(pending, hf__stepper, pending);

    halt(self);
    self->kind->closing(self);
}

static void end_request(hf__stepper *self)
{
    if (self->kind->retries && self->request->status == HF_UNAVAILABLE &&
        self->listed && is_local(self) && hf__clock_boot_ms() < self->by_ms)
        pause(self, LOCAL_PAUSE_MS);
    else
        self->kind->answered(self);
}

static void run_posted(hf__task *task)
{
    hf__stepper *self = hf__container_of(task, hf__stepper, task);

    if (self->state == HF__STEPPER_AT_STORE) {
        end_request(self);
        return;
    }
    if (self->state == HF__STEPPER_FIRST && !hf__stepper_is_closing(self)) {
        self->listed = true;
        self->pending.close = on_closing;
        hf__pending_add(self->client, &self->pending);
    }
    self->kind->posted(self);
}

void hf__stepper_post(hf__stepper *self)
{
    self->task = (hf__task){.run = run_posted};
    hf__loop_post(self->client->loop, &self->task);
}

void hf__stepper_init(hf__stepper *self, hf_client *client,
                      const hf__stepper_kind *kind)
{
    *self = (hf__stepper){.client = client, .kind = kind};
    hf__timer_init(&self->timer, on_timer);
}
