/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - see run.h. */
#include "core/run.h"

#include "core/client.h"
#include "core/run_waiting.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/order.h"

/* How long a call may wait for its subscription. */
#define LISTEN_MS 1000

/* -------------------------------------------------------------- a request */
hf_status hf__request_stamp(hf_client *client, hf__request *request,
                            int64_t limit_ms, hf_error *err)
{
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms =
        hf__at_most(request->began_ms + client->request_ms, limit_ms);
    return hf__client_check(client, err);
}

hf_status hf__run_inside(hf_client *client, hf__request *request,
                         int64_t limit_ms, hf_error *err)
{
    int64_t probed_us;

    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms =
        hf__at_most(request->began_ms + client->request_ms, limit_ms);
    probed_us = hf__request_probe_begin(request);
    if (request->wait_ms == 0)
        client->store->ops->perform(client->store, request);
    else
        hf__run_waiting(client, request);
    hf__request_probe_end(request, probed_us);
    if (request->status != HF_OK)
        return hf__fail_copy(err, &request->error);
    return HF_OK;
}

hf_status hf__run(hf_client *client, hf__request *request, int64_t limit_ms,
                  hf_error *err)
{
    hf_status status = hf__client_may_block(client, err);

    if (status != HF_OK)
        return status;
    return hf__run_inside(client, request, limit_ms, err);
}

hf_status hf__run_script_by(hf_client *client, uint32_t index,
                            const hf_bytes *words, size_t count,
                            size_t key_count, int64_t limit_ms,
                            hf__request *request, hf_error *err)
{
    hf__request_script(request, &hf__scripts[index], words, count, key_count);
    return hf__run(client, request, limit_ms, err);
}

hf_status hf__run_operation(hf_client *client, const hf__operation *operation,
                            hf_bytes *words, size_t count, hf__request *request,
                            hf_error *err)
{
    hf__operation_request(request, operation, words, count);
    return hf__run(client, request, INT64_MAX, err);
}

/* ------------------------------------------------------------ a procedure */

typedef struct runner {
    hf__procedure *procedure; /* the innermost; written under the mutex */
    hf__sleeper sleeper;      /* registered: the rest is set up */
    uint32_t seq;             /* the topic's event counter */
    pthread_mutex_t mutex;    /* guards the rest */
    pthread_cond_t changed;
    bool listening;
    bool resumed;
    bool away; /* the last wait was; of this thread alone */
} runner;

static void wake_thread(hf__sleeper *sleeper)
{
    runner *self = hf__container_of(sleeper, runner, sleeper);
    hf__store *store;
    hf_bytes topic = hf_view(NULL, 0);

    pthread_mutex_lock(&self->mutex);
    store = self->procedure->client->store;
    if (self->listening)
        topic = self->procedure->topic;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    if (topic.size > 0)
        store->ops->event_wake(store, topic);
}

static void resume_thread(hf__procedure *procedure)
{
    runner *self = procedure->runner;

    pthread_mutex_lock(&self->mutex);
    self->resumed = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/* Before it waits for the first time: most calls never do. */
static void set_up(runner *self)
{
    hf__procedure *procedure = self->procedure;

    if (self->sleeper.registered)
        return;
    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->changed);
    self->sleeper =
        (hf__sleeper){.wake = wake_thread, .about = procedure->about};
    self->listening = self->resumed = false;
    hf__sleeper_add(&procedure->client->interrupts, &self->sleeper);
}

static bool is_interrupted(const hf__procedure *procedure)
{
    if (procedure->kind->interrupted != NULL)
        return procedure->kind->interrupted(procedure);
    return hf__client_interrupted(procedure->client, procedure->interrupts);
}

/* An interruption of an outer one is one of it. */
static bool is_stopped(const runner *self)
{
    const hf__procedure *procedure = self->procedure;

    if (procedure->cancelled)
        return false;
    while (procedure != NULL && !is_interrupted(procedure))
        procedure = procedure->outer;
    return procedure != NULL;
}

static hf__happened listen_to_topic(runner *self)
{
    const hf__procedure *procedure = self->procedure;
    hf__store *store = procedure->client->store;
    int64_t by_ms = hf__clock_after(hf__clock_boot_ms(), LISTEN_MS);

    set_up(self);
    pthread_mutex_lock(&self->mutex);
    self->listening = true;
    pthread_mutex_unlock(&self->mutex);
    self->seq = store->ops->event_seq(store, procedure->topic,
                                      hf__at_most(procedure->until_ms, by_ms));
    return HF__LISTENS;
}

static hf__happened ask_store(runner *self)
{
    hf__procedure *procedure = self->procedure;
    hf__request *request;

    if (procedure->pause_ms > 0)
        hf__clock_sleep_until(hf__at_most(
            procedure->until_ms,
            hf__clock_after(hf__clock_boot_ms(), procedure->pause_ms)));
    if (procedure->kind->prepare != NULL)
        procedure->kind->prepare(procedure);
    if (procedure->topic.size > 0)
        (void)listen_to_topic(self);
    request = procedure->kind->fill(procedure);
    (void)!hf__run_inside(procedure->client, request, procedure->ask_by_ms,
                          NULL);
    return HF__ANSWERED;
}

/* Events after this one are counted before the step looks for what it says. */
static hf__happened await_event(runner *self)
{
    const hf__procedure *procedure = self->procedure;
    hf__store *store = procedure->client->store;
    bool moved = store->ops->event_wait(store, procedure->topic, self->seq,
                                        procedure->wake_ms);

    if (is_stopped(self))
        return HF__CANCELLED;
    if (moved)
        self->seq = store->ops->event_seq(store, procedure->topic, 0);
    return moved ? HF__EVENT : HF__TIME;
}

/* Until it was resumed; nothing resumes a sleep. */
static hf__happened await_resume(runner *self)
{
    int64_t wake_ms = self->procedure->wake_ms;
    bool resumed;

    pthread_mutex_lock(&self->mutex);
    while (!self->resumed && !is_stopped(self) && hf__clock_boot_ms() < wake_ms)
        hf__cond_wait_until(&self->changed, &self->mutex, wake_ms);
    resumed = self->resumed;
    self->resumed = false;
    pthread_mutex_unlock(&self->mutex);
    if (resumed)
        return HF__RESUMED;
    return is_stopped(self) ? HF__CANCELLED : HF__TIME;
}

static hf__happened sleep_until_woken(runner *self)
{
    set_up(self);
    if (is_stopped(self))
        return HF__CANCELLED;
    return self->listening && !self->away ? await_event(self)
                                          : await_resume(self);
}

static hf__happened be_away(runner *self)
{
    set_up(self);
    self->away = true;
    if (self->procedure->kind->leave(self->procedure))
        return HF__RESUMED;
    return await_resume(self);
}

static hf__happened perform_next(runner *self, hf__next next)
{
    switch (next) {
    case HF__ASK:
        return ask_store(self);
    case HF__LISTEN:
        return listen_to_topic(self);
    case HF__AWAY:
        return be_away(self);
    case HF__SLEEP:
        self->away = false;
        break;
    case HF__STAY:
    case HF__CALL:
    case HF__END:
        break;
    }
    return sleep_until_woken(self);
}

static void tear_down(runner *self)
{
    if (!self->sleeper.registered)
        return;
    hf__sleeper_remove(&self->procedure->client->interrupts, &self->sleeper);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}

/* Events of the topic of the one before are not counted any more. */
static void run_from_now(runner *self, hf__procedure *procedure)
{
    procedure->runner = self;
    procedure->resume = resume_thread;
    if (self->sleeper.registered)
        pthread_mutex_lock(&self->mutex);
    self->procedure = procedure;
    self->listening = false;
    if (self->sleeper.registered)
        pthread_mutex_unlock(&self->mutex);
}

static hf__next call_inner(runner *self)
{
    hf__procedure *outer = self->procedure, *inner = outer->inner;

    inner->outer = outer;
    inner->about = outer->about;
    inner->interrupts = outer->interrupts;
    run_from_now(self, inner);
    return outer->inner_next;
}

/* An interruption is reported before it continues. */
static hf__next take_step(runner *self, hf__happened what)
{
    hf__procedure *procedure = self->procedure;
    hf__next next = HF__ASK;

    if (what != HF__CANCELLED)
        next = procedure->kind->step(procedure, what);
    if (next == HF__END || !is_stopped(self))
        return next;
    procedure->cancelled = true;
    return procedure->kind->step(procedure, HF__CANCELLED);
}

void hf__run_blocking(hf__procedure *procedure, hf__next next)
{
    runner self;

    procedure->interrupts = atomic_load_explicit(
        &procedure->client->interrupts.count, memory_order_acquire);
    self.sleeper.registered = false;
    self.away = false;
    run_from_now(&self, procedure);
    while (next != HF__END || self.procedure != procedure) {
        if (next == HF__CALL) {
            next = call_inner(&self);
        } else if (next == HF__END) {
            run_from_now(&self, self.procedure->outer);
            next = take_step(&self, HF__RETURNED);
        } else {
            next = take_step(&self, perform_next(&self, next));
        }
    }
    tear_down(&self);
}
