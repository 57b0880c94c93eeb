/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_conn.c - see event_conn.h: it is subscribed to the client's channel.
 *
 * Each message moves the counter of the topic in its payload; one on a channel
 * of another library (channels.h) that of the topic for which it was asked.
 * Messages sent while not subscribed are lost, so every (re)subscription moves
 * every counter, and waiters look again. The connection is made when events are
 * first needed, and kept. It uses RESP3 if available, as messages are pushes
 * there and do not mix with replies.
 *
 * There may be no message for hours, so a PING is sent after SILENCE_MS without
 * input. A connection that hangs or was cut off is dropped after ANSWER_MS, and
 * waiters look again. One that has answered is pinged more rarely, since a
 * thousand clients may wait at one server.
 *
 * While not subscribed, every counter is moved from time to time, often at
 * first, then more rarely, so that waiters poll.
 */
#include "store/redis/events/event_conn.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/events/message.h"
#include "store/redis/server/conn_log.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

/* Some SUBSCRIBEs and the login. A name that is longer is not subscribed. */
#define OUT_LIMIT 65536

#define SILENCE_MS 5000
#define SILENCE_MAX_MS 120000
#define ANSWER_MS 5000

/* Interval of that polling. */
#define BLIND_MIN_MS 50
#define BLIND_MAX_MS 500

static const hf__conn_purpose for_wakeups = {"wake-ups",
                                             ", so that waiters poll"};

static int64_t first_silence_ms = SILENCE_MS;
static int64_t answer_ms = ANSWER_MS;

void hf__event_conn_set_silence(int64_t silence_ms, int64_t wait_ms)
{
    first_silence_ms = silence_ms;
    answer_ms = wait_ms;
}

static void set_state(hf__event_conn *self, hf__event_conn_state state)
{
    __atomic_store_n(&self->state, state, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->state, false);
}

static uint32_t get_state(const hf__event_conn *self)
{
    return __atomic_load_n(&self->state, __ATOMIC_ACQUIRE);
}

static void on_up(hf__async_conn *conn)
{
    hf__event_conn *self = hf__container_of(conn, hf__event_conn, conn);
    const char *words[] = {"SUBSCRIBE", self->channel};

    self->probed_ms = 0;
    self->silence_ms = first_silence_ms;
    hf__key_tracking_reset(&self->tracking);
    hf__channels_reset(&self->channels);
    hf__arena_free(&self->arena);
    hf__resp_begin(&conn->resp, &self->arena, &self->message);
    if (hf__resp_put_words(&conn->out.text, words, 2)) {
        hf__async_conn_flush(conn);
        return;
    }
    hf__fail(&conn->error, HF_NO_MEMORY, "out of memory");
    hf__async_conn_drop(conn);
}

static void take_life_sign(hf__event_conn *self)
{
    self->probed_ms = 0;
    self->silence_ms = hf__at_most(3 * self->silence_ms, SILENCE_MAX_MS);
    self->silence_ms -= hf__rand_between(0, self->silence_ms / 4);
}

/* false: nothing was outstanding. */
static bool take_answer(hf__event_conn *self)
{
    uint32_t bucket;
    bool moved;

    switch (hf__key_tracking_answer(&self->tracking, &self->message, &bucket,
                                    &moved)) {
    case HF__TRACKING_NONE:
        return false;
    case HF__TRACKING_PING:
        take_life_sign(self);
        break;
    case HF__TRACKING_TRACK:
        break;
    case HF__TRACKING_KEY:
        if (moved)
            hf__events_move(self->events, bucket);
        break;
    case HF__TRACKING_CHANNEL:
        hf__channels_refuse(&self->channels, bucket);
        break;
    }
    return true;
}

static void take_changes(hf__event_conn *self)
{
    size_t count = 0;
    const hf_reply *keys = hf__message_keys(&self->message, &count);

    if (keys == NULL)
        hf__events_move_all(self->events);
    for (size_t i = 0; i < count; i++) {
        hf_bytes key = hf_view(keys[i].bytes.data, keys[i].bytes.size);

        if (keys[i].kind == HF_REPLY_STRING)
            hf__events_move(self->events, hf__events_bucket(key));
    }
}

static void send_channels(hf__event_conn *self)
{
    if (hf__channels_subscribe(&self->channels, &self->tracking,
                               &self->conn.out.text))
        hf__async_conn_flush(&self->conn);
}

static bool is_inbox(const hf__event_conn *self, hf_bytes channel)
{
    return channel.size == strlen(self->channel) &&
           memcmp(channel.data, self->channel, channel.size) == 0;
}

/* What was missed before is found by those whose counter moves. */
static bool take_subscribed(hf__event_conn *self, hf_bytes channel)
{
    uint32_t bucket;

    if (is_inbox(self, channel)) {
        /* In this order: who is woken by the move may rely on what is published
         * from now on, and a waiter for the state does not mistake the move for
         * an event. */
        set_state(self, HF__EVENT_CONN_BEGINS);
        hf__events_move_all(self->events);
        set_state(self, HF__EVENT_CONN_LISTENS);
        hf__conn_log_up(&self->conn);
    } else if (!hf__key_tracking_subscribed(&self->tracking)) {
        return false;
    } else if (hf__channels_find(&self->channels, channel, &bucket)) {
        hf__events_move(self->events, bucket);
    }
    send_channels(self);
    return true;
}

static void take_ended(hf__event_conn *self, hf_bytes channel)
{
    uint32_t bucket;

    if (hf__channels_end(&self->channels, channel, &bucket))
        hf__events_move(self->events, bucket);
}

static void take_event(hf__event_conn *self, hf_bytes channel, hf_bytes message)
{
    const hf__store_context *context = self->conn.node->context;
    hf_bytes text, topic;
    uint32_t bucket;

    if (!is_inbox(self, channel)) {
        if (hf__channels_find(&self->channels, channel, &bucket))
            hf__events_move(self->events, bucket);
        return;
    }
    hf__store_message(message, &text, &topic);
    if (self->accepts != NULL && !self->accepts(self, topic))
        return;
    if (context->on_message != NULL && text.size > 0)
        context->on_message(context->on_message_user, topic, text);
    hf__events_move(self->events, hf__events_bucket(topic));
}

/* false: it is unknown, or was not requested. */
static bool take_message(hf__event_conn *self)
{
    hf_bytes channel, message;

    switch (hf__message_read(&self->message, &channel, &message)) {
    case HF__MESSAGE_ANSWER:
        return take_answer(self);
    case HF__MESSAGE_CHANGED:
        take_changes(self);
        return true;
    case HF__MESSAGE_SUBSCRIBED:
        return take_subscribed(self, channel);
    case HF__MESSAGE_ENDED:
        take_ended(self, channel);
        return true;
    case HF__MESSAGE_EVENT:
        take_event(self, channel, message);
        return true;
    case HF__MESSAGE_NONE:
        break;
    }
    return false;
}

static void on_input(hf__async_conn *conn)
{
    hf__event_conn *self = hf__container_of(conn, hf__event_conn, conn);
    hf__resp_result parsed;

    while (conn->state == HF__ASYNC_UP && hf__buf_size(&conn->in) > 0) {
        parsed = hf__resp_feed(&conn->resp, &conn->in);
        if (parsed == HF__RESP_MORE)
            return;
        if (parsed != HF__RESP_DONE)
            hf__reply_set_nil(&self->message);
        if (parsed != HF__RESP_DONE || !take_message(self))
            hf__message_refuse(&self->message, conn);
        hf__arena_free(&self->arena);
        hf__resp_begin(&conn->resp, &self->arena, &self->message);
    }
}

/* If it was subscribed, reconnect immediately; otherwise after a pause. */
static void on_down(hf__async_conn *conn, bool was_up)
{
    hf__event_conn *self = hf__container_of(conn, hf__event_conn, conn);

    if (was_up && get_state(self) == HF__EVENT_CONN_LISTENS)
        set_state(self, HF__EVENT_CONN_TRYING);
    else
        set_state(self, HF__EVENT_CONN_FAILED);
}

static void send_probe(hf__event_conn *self, int64_t now_ms)
{
    self->probed_ms = now_ms;
    if (hf__key_tracking_ping(&self->tracking, &self->conn.out.text))
        hf__async_conn_flush(&self->conn);
}

/* Check for silence; returns when to be called next. */
static int64_t watch_silence(hf__event_conn *self, int64_t now_ms)
{
    hf__async_conn *conn = &self->conn;

    if (conn->state != HF__ASYNC_UP)
        return INT64_MAX;
    if (self->probed_ms == 0 && now_ms >= conn->alive_ms + self->silence_ms)
        send_probe(self, now_ms);
    if (conn->state != HF__ASYNC_UP)
        return INT64_MAX;
    if (self->probed_ms == 0)
        return conn->alive_ms + self->silence_ms;
    if (now_ms < self->probed_ms + answer_ms)
        return self->probed_ms + answer_ms;
    hf__fail(&conn->error, HF_UNAVAILABLE, "%s did not reply to PING",
             conn->peer);
    hf__async_conn_drop(conn);
    return INT64_MAX;
}

/* Make waiters poll; returns when to be called next. */
static int64_t look_blindly(hf__event_conn *self, int64_t now_ms)
{
    if (get_state(self) == HF__EVENT_CONN_LISTENS) {
        self->look_ms = 0;
        return INT64_MAX;
    }
    if (self->look_ms == 0)
        self->blind_ms = BLIND_MIN_MS;
    else if (now_ms < self->look_ms)
        return self->look_ms;
    else
        hf__events_move_all(self->events);
    self->look_ms = now_ms + hf__rand_between(BLIND_MIN_MS, self->blind_ms);
    self->blind_ms = hf__at_most(2 * self->blind_ms, BLIND_MAX_MS);
    return self->look_ms;
}

static int64_t on_tick(hf__async_conn *conn, int64_t now_ms)
{
    hf__event_conn *self = hf__container_of(conn, hf__event_conn, conn);
    int64_t next_ms = watch_silence(self, now_ms);

    if (get_state(self) == HF__EVENT_CONN_LISTENS &&
        conn->state == HF__ASYNC_UP &&
        hf__channels_tidy(&self->channels, now_ms, &conn->out.text))
        hf__async_conn_flush(conn);
    return hf__at_most(next_ms, look_blindly(self, now_ms));
}

static const hf__async_conn_ops inbox_link_ops = {
    .up = on_up,
    .input = on_input,
    .down = on_down,
    .tick = on_tick,
};

void hf__event_conn_init(hf__event_conn *self, hf__redis_node *node)
{
    memset(self, 0, sizeof(*self));
    hf__async_conn_init(&self->conn, &inbox_link_ops, node, OUT_LIMIT);
    self->conn.resp3 = true;
    self->conn.purpose = &for_wakeups;
    self->channel = node->context->channel;
    hf__events_init(&self->own_events);
    self->events = &self->own_events;
    hf__arena_init(&self->arena);
    atomic_init(&self->asked, false);
    atomic_init(&self->reset_posted, false);
}

static void run_start(hf__task *task)
{
    hf__event_conn *self = hf__container_of(task, hf__event_conn, start_task);

    if (self->conn.state == HF__ASYNC_CLOSED)
        return;
    set_state(self, HF__EVENT_CONN_TRYING);
    hf__async_conn_update(&self->conn);
}

void hf__event_conn_start(hf__event_conn *self)
{
    if (atomic_load_explicit(&self->asked, memory_order_relaxed) ||
        atomic_exchange(&self->asked, true))
        return;
    self->start_task.run = run_start;
    hf__loop_post(self->conn.node->context->loop, &self->start_task);
}

static void run_reset(hf__task *task)
{
    hf__event_conn *self = hf__container_of(task, hf__event_conn, reset_task);

    atomic_store(&self->reset_posted, false);
    hf__async_conn_update(&self->conn);
}

void hf__event_conn_reset(hf__event_conn *self)
{
    if (!atomic_load(&self->asked) ||
        atomic_exchange(&self->reset_posted, true))
        return;
    self->reset_task.run = run_reset;
    hf__loop_post(self->conn.node->context->loop, &self->reset_task);
}

typedef struct hear_task {
    hf__task base;
    hf__event_conn *self;
    uint32_t bucket;
    bool sharded;
    int64_t until_ms;
    size_t size;
    char channel[];
} hear_task;

static void run_hear(hf__task *task)
{
    hear_task *what = (hear_task *)(void *)task;
    hf__event_conn *self = what->self;
    hf__async_conn *conn = &self->conn;
    hf__channels *channels = &self->channels;
    hf_bytes channel = hf_view(what->channel, what->size);
    bool some = false;

    if (what->until_ms == 0)
        some = hf__channels_remove(channels, channel, &conn->out.text);
    else
        hf__channels_want(channels, channel, what->bucket, what->sharded,
                          what->until_ms);
    hf__free(what);
    if (get_state(self) != HF__EVENT_CONN_LISTENS)
        return;
    some = hf__channels_tidy(channels, hf__clock_boot_ms(), &conn->out.text) ||
           some;
    some = hf__channels_subscribe(channels, &self->tracking, &conn->out.text) ||
           some;
    if (some)
        hf__async_conn_flush(conn);
}

void hf__event_conn_hear(hf__event_conn *self, hf_bytes topic, hf_bytes channel,
                         bool sharded, int64_t until_ms)
{
    hear_task *made = hf__alloc(sizeof(*made) + channel.size);

    if (made == NULL)
        return;
    made->base.run = run_hear;
    made->self = self;
    made->bucket = hf__events_bucket(topic);
    made->sharded = sharded;
    made->until_ms = until_ms;
    made->size = channel.size;
    memcpy(made->channel, channel.data, channel.size);
    hf__loop_post(self->conn.node->context->loop, &made->base);
}

typedef struct key_task {
    hf__task base;
    hf__event_conn *self;
    bool held;
    size_t size;
    char key[];
} key_task;

static void run_watch_key(hf__task *task)
{
    key_task *what = (key_task *)(void *)task;
    hf__event_conn *self = what->self;
    hf__async_conn *conn = &self->conn;
    hf_bytes key = hf_view(what->key, what->size);

    if (conn->state == HF__ASYNC_UP && conn->login.traits.resp3 &&
        get_state(self) == HF__EVENT_CONN_LISTENS &&
        hf__key_tracking_key(&self->tracking, key, hf__events_bucket(key),
                             what->held, &conn->out.text))
        hf__async_conn_flush(conn);
    hf__free(what);
}

void hf__event_conn_watch_key(hf__event_conn *self, hf_bytes key, bool held)
{
    key_task *made = hf__alloc(sizeof(*made) + key.size);

    if (made == NULL)
        return;
    made->base.run = run_watch_key;
    made->self = self;
    made->held = held;
    made->size = key.size;
    memcpy(made->key, key.data, key.size);
    hf__loop_post(self->conn.node->context->loop, &made->base);
}

bool hf__event_conn_listens(const hf__event_conn *self)
{
    uint32_t state = get_state(self);

    return state == HF__EVENT_CONN_BEGINS || state == HF__EVENT_CONN_LISTENS;
}

void hf__event_conn_wait(hf__event_conn *self, int64_t until_ms)
{
    uint32_t state;

    if (hf__loop_here(self->conn.node->context->loop))
        return;
    for (;;) {
        state = get_state(self);
        if (state == HF__EVENT_CONN_LISTENS || state == HF__EVENT_CONN_FAILED ||
            hf__clock_boot_ms() >= until_ms)
            return;
        hf__futex_wait(&self->state, state, until_ms, false);
    }
}

static void on_link_closed(hf__async_conn *conn)
{
    hf__event_conn *self = hf__container_of(conn, hf__event_conn, conn);

    self->closed(self);
}

void hf__event_conn_close_here(hf__event_conn *self,
                               void (*closed)(hf__event_conn *self))
{
    self->closed = closed;
    set_state(self, HF__EVENT_CONN_FAILED);
    hf__async_conn_close(&self->conn, on_link_closed);
}

static void on_closed(hf__event_conn *self)
{
    __atomic_store_n(&self->is_closed, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->is_closed, false);
}

static void run_close(hf__task *task)
{
    hf__event_conn *self = hf__container_of(task, hf__event_conn, close_task);

    hf__event_conn_close_here(self, on_closed);
}

void hf__event_conn_close(hf__event_conn *self)
{
    if (hf__loop_started(self->conn.node->context->loop)) {
        self->close_task.run = run_close;
        hf__loop_post(self->conn.node->context->loop, &self->close_task);
        while (__atomic_load_n(&self->is_closed, __ATOMIC_ACQUIRE) == 0)
            hf__futex_wait(&self->is_closed, 0, INT64_MAX, false);
    }
    hf__event_conn_done(self);
}

void hf__event_conn_done(hf__event_conn *self)
{
    hf__channels_done(&self->channels);
    hf__arena_free(&self->arena);
    hf__async_conn_done(&self->conn);
}

void hf__event_conn_close_forked(hf__event_conn *self)
{
    hf__async_conn_close_forked(&self->conn);
}
