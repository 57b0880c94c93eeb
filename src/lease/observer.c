/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observer.c - following who leads.
 *
 * 1. A change of the election's key, the end of the leader's lease and a failed
 *    read ask for a look. One is under way at a time; if another was asked for
 *    meanwhile it follows.
 * 2. What differs from the look before is given to the first call, or kept for
 *    the next one, so that a slow observer skips leaders but ends with the last
 *    one. A failure is kept until a look succeeds.
 */
#include "core/client.h"
#include "core/feeds.h"
#include "core/own_key.h"
#include "core/run_async.h"
#include "core/stream.h"
#include "core/wrong_type.h"
#include "holdfast/election.h"
#include "holdfast/watch.h"
#include "lease/election.h"
#include "script/script_words.h"
#include "util/bytes.h"
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
    hf__procedure procedure;
    hf__async_run run;
    hf__request request;
    hf_bytes words[HF__ELECTION_INSPECT_WORDS];
    bool ended;        /* no look begins any more; the loop thread's */
    hf__stream stream; /* its mutex guards the rest */
    bool idle;         /* ended, and no look is under way */
    bool seen;         /* a look has succeeded */
    bool fresh;        /* `latest` was not given to anyone */
    hf_leader latest;
    int64_t until_ms; /* end of its lease */
    hf_error failure; /* of the last look; HF_OK: given, or there is none */
    char text[];      /* the key, then that of the waiters */
};

static hf_observer *observer_of(hf__procedure *procedure)
{
    return hf__container_of(procedure, hf_observer, procedure);
}

/* ----------------------------------------------------------- what is given */

static bool has_news(const hf__stream *stream)
{
    const hf_observer *self =
        hf__container_of(stream, const hf_observer, stream);

    return self->fresh || self->failure.status != HF_OK;
}

static hf_status take_news(hf__stream *stream, void *item, hf_error *err)
{
    hf_observer *self = hf__container_of(stream, hf_observer, stream);
    hf_leader *leader = item;
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

static void move_leader(void *to, void *from)
{
    hf_leader_free(to);
    *(hf_leader *)to = *(hf_leader *)from;
    ((hf_leader *)from)->text = (hf_buffer)HF_BUFFER_INIT;
}

static void free_leader(void *item)
{
    hf_leader_free(item);
}

static const hf__stream_kind news = {.item_size = sizeof(hf_leader),
                                     .timeout = "the leader has not changed",
                                     .has = has_news,
                                     .take = take_news,
                                     .move = move_leader,
                                     .free = free_leader};

/* -------------------------------------------------------------------- look */

static bool leader_differs(const hf_leader *a, const hf_leader *b)
{
    return a->term != b->term || a->text.size != b->text.size ||
           (a->text.size > 0 &&
            memcmp(a->text.data, b->text.data, a->text.size) != 0);
}

static void note_locked(hf_observer *self, hf_leader *found)
{
    hf_leader before = self->latest;

    self->fresh = self->fresh || !self->seen || leader_differs(&before, found);
    self->seen = true;
    self->failure.status = HF_OK;
    self->until_ms = self->request.began_ms + found->remaining_ms;
    self->latest = *found;
    hf_leader_free(&before);
}

/* When to look even if nothing is reported. */
static int64_t next_look(const hf_observer *self, hf_status status)
{
    int64_t now_ms = hf__clock_boot_ms();

    if (status != HF_OK)
        return now_ms + RETRY_MS;
    if (self->latest.term == 0)
        return INT64_MAX;
    /* The reply came after the store had read its clock. -1: no lease. */
    return now_ms + (self->latest.remaining_ms < 0
                         ? RETRY_MS
                         : self->latest.remaining_ms + 1);
}

static hf__next read_leader(hf_observer *self)
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
    pthread_mutex_lock(&self->stream.mutex);
    if (status == HF_OK)
        note_locked(self, &found);
    else
        self->failure = error;
    pthread_mutex_unlock(&self->stream.mutex);
    hf__request_done(&self->request);
    hf__stream_serve(&self->stream);
    self->procedure.wake_ms = next_look(self, status);
    return self->ended ? HF__END : HF__SLEEP;
}

static hf__request *fill_look(hf__procedure *procedure)
{
    hf_observer *self = observer_of(procedure);

    hf__request_script(&self->request,
                       &hf__scripts[HF__SCRIPT_ELECTION_INSPECT], self->words,
                       HF__ELECTION_INSPECT_WORDS, HF__ELECTION_INSPECT_KEYS);
    return &self->request;
}

/* A request is at the store. */
static bool is_looking(const hf_observer *self)
{
    return self->run.state == HF__ASYNC_AT_STORE;
}

/* Without a timer there are still changes. */
static hf__next fail_look(hf_observer *self)
{
    if (!is_looking(self))
        return HF__STAY;
    self->request.status = self->request.error.status;
    return read_leader(self);
}

static hf__next observer_step(hf__procedure *procedure, hf__happened what)
{
    hf_observer *self = observer_of(procedure);

    switch (what) {
    case HF__ANSWERED:
        return read_leader(self);
    case HF__FAILED:
        return fail_look(self);
    case HF__CLOSED:
        self->ended = true;
        break;
    case HF__EVENT:
    case HF__TIME:
    case HF__LISTENS:
    case HF__RESUMED:
    case HF__RETURNED:
    case HF__CANCELLED:
        break;
    }
    return self->ended ? HF__END : HF__ASK;
}

static const hf__procedure_kind steps = {
    .step = observer_step, .fill = fill_look, .retries = true};

static void become_idle(hf_observer *self)
{
    pthread_mutex_lock(&self->stream.mutex);
    self->idle = true;
    pthread_cond_broadcast(&self->stream.changed);
    pthread_mutex_unlock(&self->stream.mutex);
}

static void on_end(hf__async_run *run)
{
    (void)hf__async_stop(run);
    become_idle(hf__container_of(run, hf_observer, run));
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf_observer *self = hf__container_of(feed, hf_observer, feed.feed);
    hf_bytes own = self->words[HF__ELECTION_INSPECT_ELECTION];

    if (kind == HF_CHANGE_GAP || hf__bytes_same(key, own))
        hf__async_wake(&self->run);
}

static void on_broken(hf__feed *feed)
{
    hf__async_wake(&hf__container_of(feed, hf_observer, feed.feed)->run);
}

/* ----------------------------------------------------------- open and close */

typedef struct stop {
    hf__task task;
    hf_observer *observer;
} stop;

static void run_stop(hf__task *task)
{
    hf_observer *self = hf__container_of(task, stop, task)->observer;

    self->ended = true;
    (void)hf__async_stop(&self->run);
    if (!is_looking(self))
        become_idle(self);
}

/* No look is under way afterwards, and none begins. */
static void end_looks(hf_observer *self)
{
    stop stopping = {.task = {.run = run_stop}, .observer = self};

    hf__loop_call(self->procedure.client->loop, &stopping.task);
    pthread_mutex_lock(&self->stream.mutex);
    while (!self->idle)
        hf__cond_wait_until(&self->stream.changed, &self->stream.mutex,
                            INT64_MAX);
    pthread_mutex_unlock(&self->stream.mutex);
}

static void on_ended(hf__client_feed *feed)
{
    hf_observer *self = hf__container_of(feed, hf_observer, feed);

    end_looks(self);
    hf__stream_end(&self->stream, HF_UNAVAILABLE, "the client was closed");
}

static hf_observer *new_observer(hf_client *client, hf_bytes name)
{
    size_t size = client->prefix_size + name.size;
    hf_observer *self =
        hf__calloc(1, sizeof(*self) + size +
                          hf__own_key_size(client, HF__ROLE_WAIT, name));

    if (self == NULL)
        return NULL;
    self->words[0] = hf__key_put(client, name, self->text);
    self->words[1] =
        hf__own_key_put(client, HF__ROLE_WAIT, name, self->text + size);
    self->feed.feed.changed = on_changed;
    self->feed.feed.broken = on_broken;
    self->feed.ended = on_ended;
    self->latest = (hf_leader)HF_LEADER_INIT;
    self->failure = (hf_error)HF_ERROR_INIT;
    hf__procedure_init(&self->procedure, client, &steps, &self->request.error);
    hf__async_init(&self->run, &self->procedure, on_end);
    hf__stream_init(&self->stream, client, &news);
    return self;
}

static void free_observer(hf_observer *self, bool forked)
{
    hf_leader_free(&self->latest);
    hf__stream_done(&self->stream, forked);
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
    made->procedure.wake_ms = 0; /* the first look is on the loop thread, too */
    hf__async_begin(&made->run, HF__SLEEP);
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
    client = observer->procedure.client;
    forked = hf__client_forked(client);
    if (!forked && hf__life_enter(&client->life)) {
        end_looks(observer);
        hf__stream_end(&observer->stream, HF_CANCELLED,
                       "the observer was closed");
        hf__life_leave(&client->life);
    }
    hf__client_feed_close(&observer->feed);
    free_observer(observer, forked);
}

/* -------------------------------------------------------------------- next */

static hf_status check_observer(const hf_observer *observer,
                                const hf_leader *leader, hf_error *err)
{
    hf_status status = hf__check_out(observer, "observer", err);

    if (status == HF_OK)
        status = hf__check_out(leader, "leader", err);
    if (status == HF_OK)
        status = hf__check_struct(leader->struct_size, sizeof(*leader),
                                  "hf_leader", "HF_LEADER_INIT", err);
    return status;
}

hf_status hf_observer_next(hf_observer *observer, hf_leader *leader,
                           int64_t wait_ms, hf_error *err)
{
    hf_status status = check_observer(observer, leader, err);

    return status == HF_OK
               ? hf__stream_next(&observer->stream, leader, wait_ms, err)
               : status;
}

hf_status hf_observer_next_start(hf_observer *observer, hf_leader *leader,
                                 const hf_async *async, hf_error *err)
{
    hf_status status = check_observer(observer, leader, err);

    return status == HF_OK
               ? hf__stream_next_start(&observer->stream, leader, async, err)
               : status;
}
