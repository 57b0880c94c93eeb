/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observer.c - following who leads.
 *
 * 1. A change of the election's key, the end of the leader's lease and a failed
 *    read ask for a look. One is under way at a time; if another was asked for
 *    meanwhile it follows.
 * 2. A look reads the leader. It begins and ends on the loop thread, and is
 *    inside the client, so that a close waits for it.
 * 3. What differs from the look before is given to the first started call, or
 *    kept for the next one, so that a slow observer skips leaders but ends with
 *    the last one. A failure is kept until a look succeeds.
 *
 * Locks: the completions' mutex, then `mutex`. Calls are completed with none
 * held, by who has removed them from `calls`.
 */
#include "core/async.h"
#include "core/client.h"
#include "core/feeds.h"
#include "core/own_key.h"
#include "core/wrong_type.h"
#include "lease/election.h"
#include "script/script_words.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* After a failed look. */
#define RETRY_MS 1000

struct hf_observer {
    hf__client_feed feed;
    hf_client *client;
    hf__request request;
    hf_bytes words[HF__ELECTION_LEADER_WORDS];
    hf__task task;
    hf__timer timer;       /* the loop thread's */
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    bool looking; /* from when it is asked for until it has ended */
    bool again;   /* another look was asked for */
    bool ended;   /* none begins any more */
    bool seen;    /* a look has succeeded */
    bool fresh;   /* `latest` was not given to anyone */
    hf_leader latest;
    int64_t until_ms; /* end of its lease */
    hf_error failure; /* of the last look; HF_OK: given, or there is none */
    hf_call *calls;   /* started, in their order */
    hf_call **calls_end;
    char text[]; /* the key, then that of the waiters */
};

/* ----------------------------------------------------------- what is given */

static bool has_news(const hf_observer *self)
{
    return self->fresh || self->failure.status != HF_OK;
}

/* What is new; `leader` is not in use by anyone else. */
static hf_status take_locked(hf_observer *self, hf_leader *leader,
                             hf_error *err)
{
    hf_reply text = {.kind = HF_REPLY_STRING};
    hf_buffer copy = HF_BUFFER_INIT;
    hf_status status;

    if (!self->fresh) {
        status = hf__fail_copy(err, &self->failure);
        self->failure.status = HF_OK;
        return status;
    }
    text.bytes.data = self->latest.text.data;
    text.bytes.size = self->latest.text.size;
    status = self->latest.text.data == NULL ? HF_OK
                                            : hf__buffer_set(&copy, &text, err);
    if (status != HF_OK)
        return status;
    hf_buffer_free(&leader->text);
    *leader = self->latest;
    leader->text = copy;
    leader->remaining_ms =
        leader->term == 0
            ? 0
            : hf__at_least(self->until_ms - hf__clock_boot_ms(), 0);
    self->fresh = false;
    return HF_OK;
}

static hf_call *take_call_locked(hf_observer *self)
{
    hf_call *call = self->calls;

    if (call == NULL)
        return NULL;
    self->calls = call->next;
    if (self->calls == NULL)
        self->calls_end = &self->calls;
    return call;
}

static void serve(hf_observer *self)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status = HF_OK;
    hf_call *call;

    for (;;) {
        pthread_mutex_lock(&self->mutex);
        call = has_news(self) ? take_call_locked(self) : NULL;
        if (call != NULL)
            status = take_locked(self, call->owned, &error);
        pthread_mutex_unlock(&self->mutex);
        if (call == NULL)
            return;
        if (status != HF_OK)
            hf__request_fail(&call->request, status, "%s", error.message);
        hf__call_complete(call);
    }
}

static void end_calls(hf_observer *self, hf_status status, const char *why)
{
    hf_call *call;

    for (;;) {
        pthread_mutex_lock(&self->mutex);
        call = take_call_locked(self);
        pthread_mutex_unlock(&self->mutex);
        if (call == NULL)
            return;
        hf__request_fail(&call->request, status, "%s", why);
        hf__call_complete(call);
    }
}

/* -------------------------------------------------------------------- look */

static bool differs(const hf_leader *a, const hf_leader *b)
{
    return a->term != b->term || a->text.size != b->text.size ||
           (a->text.size > 0 &&
            memcmp(a->text.data, b->text.data, a->text.size) != 0);
}

static void note_locked(hf_observer *self, hf_leader *found)
{
    hf_leader before = self->latest;

    self->fresh = self->fresh || !self->seen || differs(&before, found);
    self->seen = true;
    self->failure.status = HF_OK;
    self->until_ms = self->request.began_ms + found->remaining_ms;
    self->latest = *found;
    hf_leader_free(&before);
}

/* When to look even if nothing is reported. */
static void set_timer(hf_observer *self, hf_status status)
{
    hf__timers *timers = &self->client->timers;
    int64_t at_ms = hf__clock_boot_ms() + RETRY_MS;

    hf__timer_stop(timers, &self->timer);
    if (status == HF_OK && self->latest.term == 0)
        return;
    /* The reply came after the store had read its clock. -1: no lease. */
    if (status == HF_OK && self->latest.remaining_ms >= 0)
        at_ms = hf__clock_boot_ms() + self->latest.remaining_ms + 1;
    (void)hf__timer_set(timers, &self->timer, at_ms); /* else changes remain */
}

static void read_leader(hf_observer *self)
{
    hf_leader found = HF_LEADER_INIT;
    hf_error error = HF_ERROR_INIT;
    hf_status status = self->request.status;

    if (status != HF_OK)
        (void)hf__fail_copy(&error, &self->request.error);
    if (status == HF_WRONG_TYPE)
        hf__wrong_type_name(&self->request, &error);
    if (status == HF_OK)
        status = hf__leader_read(&self->request.reply, &found, &error);
    pthread_mutex_lock(&self->mutex);
    if (status == HF_OK)
        note_locked(self, &found);
    else
        self->failure = error;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    hf__request_done(&self->request);
    set_timer(self, status);
    serve(self);
}

/* Returns whether another look is to begin. The observer may be gone if not. */
static bool end_look(hf_observer *self)
{
    bool again;

    pthread_mutex_lock(&self->mutex);
    again = self->again && !self->ended;
    self->again = false;
    self->looking = again;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    return again;
}

static void begin_look(hf__task *task);

static void look_done(hf__task *task)
{
    hf_observer *self = hf__container_of(task, hf_observer, task);
    hf_client *client = self->client;

    read_leader(self);
    if (end_look(self))
        begin_look(&self->task);
    hf__life_leave(&client->life);
}

static void post(hf_observer *self, void (*run)(hf__task *task))
{
    self->task = (hf__task){.run = run};
    hf__loop_post(self->client->loop, &self->task);
}

static void on_done(hf__request *request)
{
    post(request->user, look_done);
}

static void begin_look(hf__task *task)
{
    hf_observer *self = hf__container_of(task, hf_observer, task);
    hf__request *request = &self->request;
    hf__store *store = self->client->store;
    hf_status status;

    if (hf__client_enter(self->client, NULL) != HF_OK) {
        (void)end_look(self); /* it is being closed */
        return;
    }
    hf__request_script(request, &hf__scripts[HF__SCRIPT_ELECTION_LEADER],
                       self->words, HF__ELECTION_LEADER_WORDS,
                       HF__ELECTION_LEADER_KEYS);
    request->on_done = on_done;
    request->user = self;
    status =
        hf__request_stamp(self->client, request, INT64_MAX, &request->error);
    request->status = status;
    if (status == HF_OK)
        store->ops->submit(store, &request, 1);
    else
        on_done(request);
}

static void look(hf_observer *self)
{
    bool begins;

    pthread_mutex_lock(&self->mutex);
    begins = !self->looking && !self->ended;
    self->again = self->looking;
    self->looking = self->looking || begins;
    pthread_mutex_unlock(&self->mutex);
    if (begins)
        post(self, begin_look);
}

static void on_timer(hf__timer *timer)
{
    look(hf__container_of(timer, hf_observer, timer));
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf_observer *self = hf__container_of(feed, hf_observer, feed.feed);
    hf_bytes own = self->words[HF__ELECTION_LEADER_ELECTION];

    if (kind == HF_CHANGE_GAP ||
        (key.size == own.size && memcmp(key.data, own.data, own.size) == 0))
        look(self);
}

static void on_broken(hf__feed *feed)
{
    look(hf__container_of(feed, hf_observer, feed.feed));
}

/* ----------------------------------------------------------- open and close */

typedef struct stop {
    hf__task task;
    hf_observer *observer;
} stop;

static void run_stop(hf__task *task)
{
    hf_observer *self = hf__container_of(task, stop, task)->observer;

    hf__timer_stop(&self->client->timers, &self->timer);
}

/* No look is under way afterwards, and none begins. The client is open. */
static void end_looks(hf_observer *self)
{
    stop stopping = {.task = {.run = run_stop}, .observer = self};

    pthread_mutex_lock(&self->mutex);
    self->ended = true;
    pthread_cond_broadcast(&self->changed);
    while (self->looking)
        hf__cond_wait_until(&self->changed, &self->mutex, INT64_MAX);
    pthread_mutex_unlock(&self->mutex);
    hf__loop_call(self->client->loop, &stopping.task);
}

static void on_ended(hf__client_feed *feed)
{
    hf_observer *self = hf__container_of(feed, hf_observer, feed);

    end_looks(self);
    end_calls(self, HF_UNAVAILABLE, "the client was closed");
}

static hf_observer *new_observer(hf_client *client, hf_bytes name)
{
    size_t size = client->prefix_size + name.size;
    hf_observer *self =
        hf__calloc(1, sizeof(*self) + size +
                          hf__own_key_size(client, HF__ROLE_WAIT, name));

    if (self == NULL)
        return NULL;
    self->client = client;
    self->words[0] = hf__key_put(client, name, self->text);
    self->words[1] =
        hf__own_key_put(client, HF__ROLE_WAIT, name, self->text + size);
    self->feed.feed.changed = on_changed;
    self->feed.feed.broken = on_broken;
    self->feed.ended = on_ended;
    self->calls_end = &self->calls;
    self->latest = (hf_leader)HF_LEADER_INIT;
    self->failure = (hf_error)HF_ERROR_INIT;
    hf__timer_init(&self->timer, on_timer);
    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->changed);
    return self;
}

/* In a forked child `changed` may have waiters that do not exist there. */
static void free_observer(hf_observer *self, bool forked)
{
    hf_leader_free(&self->latest);
    if (!forked) {
        pthread_cond_destroy(&self->changed);
        pthread_mutex_destroy(&self->mutex);
    }
    hf__free(self);
}

static hf_status open_observer(hf_client *client, hf_bytes name,
                               hf_observer **observer, hf_error *err)
{
    hf_observer *made;
    hf_status status = hf__timers_start(&client->timers, err);

    if (status != HF_OK)
        return status;
    made = new_observer(client, name);
    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "an observer");
    status = hf__client_feed_open(&made->feed, client, name, err);
    if (status != HF_OK) {
        free_observer(made, false);
        return status;
    }
    look(made);
    *observer = made;
    return HF_OK;
}

hf_status hf_observer_open(hf_client *client, hf_bytes name,
                           hf_observer **observer, hf_error *err)
{
    hf_status status = hf__check_out(observer, "observer", err);

    if (status == HF_OK)
        status = hf__client_enter_blocking(client, err);
    if (status != HF_OK)
        return status;
    status = hf__check_key(client, name, "election", err);
    if (status == HF_OK)
        status = hf__check_own_key(name, "election", err);
    if (status == HF_OK)
        status = open_observer(client, name, observer, err);
    hf__life_leave(&client->life);
    return status;
}

void hf_observer_close(hf_observer *observer)
{
    hf_client *client;
    bool forked;

    if (observer == NULL)
        return;
    client = observer->client;
    forked = hf__client_forked(client);
    if (!forked && hf__life_enter(&client->life)) {
        end_looks(observer);
        end_calls(observer, HF_CANCELLED, "the observer was closed");
        hf__life_leave(&client->life);
    }
    hf__client_feed_close(&observer->feed);
    free_observer(observer, forked);
}

/* -------------------------------------------------------------------- next */

static hf_status check(const hf_observer *observer, const hf_leader *leader,
                       hf_error *err)
{
    hf_status status = hf__check_out(observer, "observer", err);

    if (status == HF_OK)
        status = hf__check_out(leader, "leader", err);
    if (status == HF_OK)
        status = hf__check_struct(leader->struct_size, sizeof(*leader),
                                  "hf_leader", "HF_LEADER_INIT", err);
    return status;
}

typedef struct waiter {
    hf__sleeper sleeper;
    hf_observer *observer;
    unsigned interrupts; /* the client's counter when it began */
} waiter;

static void wake(hf__sleeper *sleeper)
{
    hf_observer *self = hf__container_of(sleeper, waiter, sleeper)->observer;

    pthread_mutex_lock(&self->mutex);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static hf_status next_by(const waiter *wait, hf_leader *leader,
                         int64_t until_ms, hf_error *err)
{
    hf_observer *self = wait->observer;
    hf_status status = HF_OK;

    pthread_mutex_lock(&self->mutex);
    while (status == HF_OK && !has_news(self)) {
        if (hf__client_interrupted(self->client, wait->interrupts))
            status = hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
        else if (hf__clock_boot_ms() >= until_ms)
            status = hf__fail(err, HF_TIMEOUT, "the leader has not changed");
        else
            hf__cond_wait_until(&self->changed, &self->mutex, until_ms);
    }
    if (status == HF_OK)
        status = take_locked(self, leader, err);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

hf_status hf_observer_next(hf_observer *observer, hf_leader *leader,
                           int64_t wait_ms, hf_error *err)
{
    waiter self = {.sleeper = {.wake = wake, .about = observer},
                   .observer = observer};
    hf_status status = check(observer, leader, err);

    if (status == HF_OK)
        status = hf__check_wait(wait_ms, err);
    if (status == HF_OK)
        status = hf__client_enter_blocking(observer->client, err);
    if (status != HF_OK)
        return status;
    self.interrupts = atomic_load(&observer->client->interrupts.count);
    hf__sleeper_add(&observer->client->interrupts, &self.sleeper);
    status = next_by(&self, leader,
                     hf__clock_after(hf__clock_boot_ms(), wait_ms), err);
    hf__sleeper_remove(&observer->client->interrupts, &self.sleeper);
    hf__life_leave(&observer->client->life);
    return status;
}

/* While the call is pending, its observer cannot be freed. */
static void cancel_next(hf_call *call)
{
    hf_observer *self = call->context;
    hf_call **at;
    bool removed;

    if (!hf__call_lock_pending(call))
        return;
    pthread_mutex_lock(&self->mutex);
    for (at = &self->calls; *at != NULL && *at != call; at = &(*at)->next)
        continue;
    removed = *at != NULL;
    if (removed)
        *at = call->next;
    if (removed && *at == NULL)
        self->calls_end = at;
    pthread_mutex_unlock(&self->mutex);
    hf__call_unlock_pending(call);
    if (!removed)
        return;
    hf__request_fail(&call->request, HF_CANCELLED, "cancelled");
    hf__call_complete(call);
}

static hf_status finish_next(hf_call *call, hf_error *err)
{
    hf_leader *found = call->owned, *leader = call->out;

    (void)err;
    hf_leader_free(leader);
    *leader = *found;
    found->text = (hf_buffer)HF_BUFFER_INIT;
    return HF_OK;
}

static void release_next(hf_call *call)
{
    hf_leader_free(call->owned);
    hf__free(call->owned);
}

static void start_next(hf_observer *self, hf_call *call, const hf_async *async)
{
    call->context = self;
    call->cancel = cancel_next;
    call->finish = finish_next;
    hf__call_start_begin(call, async);
    pthread_mutex_lock(&self->mutex);
    call->next = NULL;
    *self->calls_end = call;
    self->calls_end = &call->next;
    pthread_mutex_unlock(&self->mutex);
    serve(self);
    hf__call_start_end(call);
}

hf_status hf_observer_next_start(hf_observer *observer, hf_leader *leader,
                                 const hf_async *async, hf_error *err)
{
    hf_status status = check(observer, leader, err);
    hf_call *call;

    if (status == HF_OK)
        status = hf__call_new(observer->client, async, &call, err);
    if (status != HF_OK)
        return status;
    hf__call_init(call, observer->client);
    call->out = leader;
    call->owned = hf__calloc(1, sizeof(*leader));
    call->release = release_next;
    status = call->owned == NULL ? hf__fail(err, HF_NO_MEMORY, "a call")
                                 : hf__call_enter(call, false, err);
    if (status == HF_OK)
        start_next(observer, call, async);
    else
        hf__call_discard(call);
    return status;
}
