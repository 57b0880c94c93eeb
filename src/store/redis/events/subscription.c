/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscription.c - the subscription to this client's channel.
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
#include "store/redis/events/subscription.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/events/message.h"
#include "store/redis/wire/errors.h"
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

static int64_t first_silence_ms = SILENCE_MS;
static int64_t answer_ms = ANSWER_MS;

void hf__subscription_hurry(int64_t hurried_silence_ms,
                            int64_t hurried_answer_ms)
{
    first_silence_ms = hurried_silence_ms;
    answer_ms = hurried_answer_ms;
}

static void set_state(hf__subscription *subscription,
                      hf__subscription_state state)
{
    __atomic_store_n(&subscription->state, state, __ATOMIC_RELEASE);
    hf__futex_wake_all(&subscription->state, false);
}

static uint32_t get_state(const hf__subscription *subscription)
{
    return __atomic_load_n(&subscription->state, __ATOMIC_ACQUIRE);
}

static void on_up(hf__async_conn *conn)
{
    hf__subscription *subscription =
        hf__container_of(conn, hf__subscription, conn);
    const char *words[] = {"SUBSCRIBE", subscription->channel};

    subscription->probed_ms = 0;
    subscription->silence_ms = first_silence_ms;
    hf__key_tracking_reset(&subscription->tracking);
    hf__channels_reset(&subscription->channels);
    hf__arena_free(&subscription->arena);
    hf__resp_begin(&conn->resp, &subscription->arena, &subscription->message);
    if (hf__resp_put_words(&conn->out, words, 2)) {
        hf__async_conn_flush(conn);
        return;
    }
    hf__fail(&conn->error, HF_NO_MEMORY, "out of memory");
    hf__async_conn_drop(conn);
}

static void take_life_sign(hf__subscription *subscription)
{
    subscription->probed_ms = 0;
    subscription->silence_ms =
        hf__at_most(3 * subscription->silence_ms, SILENCE_MAX_MS);
    subscription->silence_ms -=
        hf__rand_between(0, subscription->silence_ms / 4);
}

/* false: nothing was outstanding. */
static bool take_answer(hf__subscription *subscription)
{
    uint32_t bucket;
    bool moved;

    switch (hf__key_tracking_answer(&subscription->tracking,
                                    &subscription->message, &bucket, &moved)) {
    case HF__TRACKING_NONE:
        return false;
    case HF__TRACKING_PING:
        take_life_sign(subscription);
        break;
    case HF__TRACKING_TRACK:
        break;
    case HF__TRACKING_KEY:
        if (moved)
            hf__events_move(subscription->events, bucket);
        break;
    case HF__TRACKING_CHANNEL:
        hf__channels_refuse(&subscription->channels, bucket);
        break;
    }
    return true;
}

static void take_changes(hf__subscription *subscription)
{
    size_t count = 0;
    const hf_reply *keys = hf__message_keys(&subscription->message, &count);

    if (keys == NULL)
        hf__events_move_all(subscription->events);
    for (size_t i = 0; i < count; i++) {
        hf_bytes key = hf_view(keys[i].bytes.data, keys[i].bytes.size);

        if (keys[i].kind == HF_REPLY_STRING)
            hf__events_move(subscription->events, hf__events_bucket(key));
    }
}

static void send_channels(hf__subscription *subscription)
{
    if (hf__channels_subscribe(&subscription->channels, &subscription->tracking,
                               &subscription->conn.out))
        hf__async_conn_flush(&subscription->conn);
}

static bool is_inbox(const hf__subscription *subscription, hf_bytes channel)
{
    return channel.size == strlen(subscription->channel) &&
           memcmp(channel.data, subscription->channel, channel.size) == 0;
}

/* What was missed before is found by those whose counter moves. */
static bool take_subscribed(hf__subscription *subscription, hf_bytes channel)
{
    uint32_t bucket;

    if (is_inbox(subscription, channel)) {
        /* In this order: who is woken by the move may rely on what is published
         * from now on, and a waiter for the state does not mistake the move for
         * an event. */
        set_state(subscription, HF__SUBSCRIPTION_BEGINS);
        hf__events_move_all(subscription->events);
        set_state(subscription, HF__SUBSCRIPTION_LISTENS);
    } else if (!hf__key_tracking_subscribed(&subscription->tracking)) {
        return false;
    } else if (hf__channels_find(&subscription->channels, channel, &bucket)) {
        hf__events_move(subscription->events, bucket);
    }
    send_channels(subscription);
    return true;
}

static void take_ended(hf__subscription *subscription, hf_bytes channel)
{
    uint32_t bucket;

    if (hf__channels_end(&subscription->channels, channel, &bucket))
        hf__events_move(subscription->events, bucket);
}

static void take_event(hf__subscription *subscription, hf_bytes channel,
                       hf_bytes message)
{
    const hf__store_context *context = subscription->conn.node->context;
    hf_bytes text, topic;
    uint32_t bucket;

    if (!is_inbox(subscription, channel)) {
        if (hf__channels_find(&subscription->channels, channel, &bucket))
            hf__events_move(subscription->events, bucket);
        return;
    }
    hf__store_message(message, &text, &topic);
    if (subscription->accepts != NULL &&
        !subscription->accepts(subscription, topic))
        return;
    if (context->on_message != NULL && text.size > 0)
        context->on_message(context->on_message_user, topic, text);
    hf__events_move(subscription->events, hf__events_bucket(topic));
}

/* false: it is unknown, or was not requested. */
static bool take_message(hf__subscription *subscription)
{
    hf_bytes channel, message;

    switch (hf__message_read(&subscription->message, &channel, &message)) {
    case HF__MESSAGE_ANSWER:
        return take_answer(subscription);
    case HF__MESSAGE_CHANGED:
        take_changes(subscription);
        return true;
    case HF__MESSAGE_SUBSCRIBED:
        return take_subscribed(subscription, channel);
    case HF__MESSAGE_ENDED:
        take_ended(subscription, channel);
        return true;
    case HF__MESSAGE_EVENT:
        take_event(subscription, channel, message);
        return true;
    case HF__MESSAGE_NONE:
        break;
    }
    return false;
}

static void refuse_message(hf__subscription *subscription)
{
    hf__async_conn *conn = &subscription->conn;
    hf_bytes line;

    if (subscription->message.kind == HF_REPLY_ERROR) {
        line = hf_view(subscription->message.bytes.data,
                       subscription->message.bytes.size);
        hf__redis_error(line, false, &conn->error);
    } else {
        hf__fail(&conn->error, HF_CORRUPT, "%s sent a malformed message",
                 conn->peer);
    }
    hf__async_conn_drop(conn);
}

static void on_input(hf__async_conn *conn)
{
    hf__subscription *subscription =
        hf__container_of(conn, hf__subscription, conn);
    hf__resp_result parsed;

    while (conn->state == HF__ASYNC_UP && hf__buf_size(&conn->in) > 0) {
        parsed = hf__resp_feed(&conn->resp, &conn->in);
        if (parsed == HF__RESP_MORE)
            return;
        if (parsed != HF__RESP_DONE)
            hf__reply_set_nil(&subscription->message);
        if (parsed != HF__RESP_DONE || !take_message(subscription))
            refuse_message(subscription);
        hf__arena_free(&subscription->arena);
        hf__resp_begin(&conn->resp, &subscription->arena,
                       &subscription->message);
    }
}

static void on_drained(hf__async_conn *conn)
{
    (void)conn;
}

/* If it was subscribed, reconnect immediately; otherwise after a pause. */
static void on_down(hf__async_conn *conn, bool was_up)
{
    hf__subscription *subscription =
        hf__container_of(conn, hf__subscription, conn);

    if (was_up && get_state(subscription) == HF__SUBSCRIPTION_LISTENS)
        set_state(subscription, HF__SUBSCRIPTION_TRYING);
    else
        set_state(subscription, HF__SUBSCRIPTION_FAILED);
}

static bool is_wanted(hf__async_conn *conn)
{
    (void)conn;
    return true;
}

static void send_probe(hf__subscription *subscription, int64_t now_ms)
{
    subscription->probed_ms = now_ms;
    if (hf__key_tracking_ping(&subscription->tracking, &subscription->conn.out))
        hf__async_conn_flush(&subscription->conn);
}

/* Check for silence; returns when to be called next. */
static int64_t watch_silence(hf__subscription *subscription, int64_t now_ms)
{
    hf__async_conn *conn = &subscription->conn;

    if (conn->state != HF__ASYNC_UP)
        return INT64_MAX;
    if (subscription->probed_ms == 0 &&
        now_ms >= conn->alive_ms + subscription->silence_ms)
        send_probe(subscription, now_ms);
    if (conn->state != HF__ASYNC_UP)
        return INT64_MAX;
    if (subscription->probed_ms == 0)
        return conn->alive_ms + subscription->silence_ms;
    if (now_ms < subscription->probed_ms + answer_ms)
        return subscription->probed_ms + answer_ms;
    hf__fail(&conn->error, HF_UNAVAILABLE, "%s did not reply to PING",
             conn->peer);
    hf__async_conn_drop(conn);
    return INT64_MAX;
}

/* Make waiters poll; returns when to be called next. */
static int64_t look_blindly(hf__subscription *subscription, int64_t now_ms)
{
    if (get_state(subscription) == HF__SUBSCRIPTION_LISTENS) {
        subscription->look_ms = 0;
        return INT64_MAX;
    }
    if (subscription->look_ms == 0)
        subscription->blind_ms = BLIND_MIN_MS;
    else if (now_ms < subscription->look_ms)
        return subscription->look_ms;
    else
        hf__events_move_all(subscription->events);
    subscription->look_ms =
        now_ms + hf__rand_between(BLIND_MIN_MS, subscription->blind_ms);
    subscription->blind_ms =
        hf__at_most(2 * subscription->blind_ms, BLIND_MAX_MS);
    return subscription->look_ms;
}

static int64_t on_tick(hf__async_conn *conn, int64_t now_ms)
{
    hf__subscription *subscription =
        hf__container_of(conn, hf__subscription, conn);
    int64_t next_ms = watch_silence(subscription, now_ms);

    if (get_state(subscription) == HF__SUBSCRIPTION_LISTENS &&
        conn->state == HF__ASYNC_UP &&
        hf__channels_tidy(&subscription->channels, now_ms, &conn->out))
        hf__async_conn_flush(conn);
    return hf__at_most(next_ms, look_blindly(subscription, now_ms));
}

static const hf__async_conn_ops inbox_link_ops = {
    .up = on_up,
    .input = on_input,
    .drained = on_drained,
    .down = on_down,
    .wanted = is_wanted,
    .tick = on_tick,
};

void hf__subscription_init(hf__subscription *subscription, hf__redis_node *node)
{
    memset(subscription, 0, sizeof(*subscription));
    hf__async_conn_init(&subscription->conn, &inbox_link_ops, node, OUT_LIMIT);
    subscription->conn.resp3 = true;
    subscription->channel = node->context->channel;
    hf__events_init(&subscription->own_events);
    subscription->events = &subscription->own_events;
    hf__arena_init(&subscription->arena);
    atomic_init(&subscription->asked, false);
    atomic_init(&subscription->poked, false);
}

static void run_start(hf__task *task)
{
    hf__subscription *subscription =
        hf__container_of(task, hf__subscription, start_task);

    if (subscription->conn.state == HF__ASYNC_CLOSED)
        return;
    set_state(subscription, HF__SUBSCRIPTION_TRYING);
    hf__async_conn_update(&subscription->conn);
}

void hf__subscription_start(hf__subscription *subscription)
{
    if (atomic_load_explicit(&subscription->asked, memory_order_relaxed) ||
        atomic_exchange(&subscription->asked, true))
        return;
    subscription->start_task.run = run_start;
    hf__loop_post(subscription->conn.node->context->loop,
                  &subscription->start_task);
}

static void run_poke(hf__task *task)
{
    hf__subscription *subscription =
        hf__container_of(task, hf__subscription, poke_task);

    atomic_store(&subscription->poked, false);
    hf__async_conn_update(&subscription->conn);
}

void hf__subscription_poke(hf__subscription *subscription)
{
    if (!atomic_load(&subscription->asked) ||
        atomic_exchange(&subscription->poked, true))
        return;
    subscription->poke_task.run = run_poke;
    hf__loop_post(subscription->conn.node->context->loop,
                  &subscription->poke_task);
}

typedef struct hear_task {
    hf__task base;
    hf__subscription *subscription;
    uint32_t bucket;
    bool sharded;
    int64_t until_ms;
    size_t size;
    char channel[];
} hear_task;

static void run_hear(hf__task *task)
{
    hear_task *self = (hear_task *)(void *)task;
    hf__subscription *subscription = self->subscription;

    hf__async_conn *conn = &subscription->conn;
    hf__channels *channels = &subscription->channels;
    hf_bytes channel = hf_view(self->channel, self->size);
    bool some = false;

    if (self->until_ms == 0)
        some = hf__channels_forget(channels, channel, &conn->out);
    else
        hf__channels_want(channels, channel, self->bucket, self->sharded,
                          self->until_ms);
    hf__free(self);
    if (get_state(subscription) != HF__SUBSCRIPTION_LISTENS)
        return;
    some = hf__channels_tidy(channels, hf__clock_boot_ms(), &conn->out) || some;
    some =
        hf__channels_subscribe(channels, &subscription->tracking, &conn->out) ||
        some;
    if (some)
        hf__async_conn_flush(conn);
}

void hf__subscription_hear(hf__subscription *subscription, hf_bytes topic,
                           hf_bytes channel, bool sharded, int64_t until_ms)
{
    hear_task *made = hf__alloc(sizeof(*made) + channel.size);

    if (made == NULL)
        return;
    made->base.run = run_hear;
    made->subscription = subscription;
    made->bucket = hf__events_bucket(topic);
    made->sharded = sharded;
    made->until_ms = until_ms;
    made->size = channel.size;
    memcpy(made->channel, channel.data, channel.size);
    hf__loop_post(subscription->conn.node->context->loop, &made->base);
}

typedef struct key_task {
    hf__task base;
    hf__subscription *subscription;
    bool held;
    size_t size;
    char key[];
} key_task;

static void run_watch_key(hf__task *task)
{
    key_task *self = (key_task *)(void *)task;
    hf__subscription *subscription = self->subscription;
    hf__async_conn *conn = &subscription->conn;
    hf_bytes key = hf_view(self->key, self->size);

    if (conn->state == HF__ASYNC_UP && conn->login.traits.resp3 &&
        get_state(subscription) == HF__SUBSCRIPTION_LISTENS &&
        hf__key_tracking_key(&subscription->tracking, key,
                             hf__events_bucket(key), self->held, &conn->out))
        hf__async_conn_flush(conn);
    hf__free(self);
}

void hf__subscription_watch_key(hf__subscription *subscription, hf_bytes key,
                                bool held)
{
    key_task *made = hf__alloc(sizeof(*made) + key.size);

    if (made == NULL)
        return;
    made->base.run = run_watch_key;
    made->subscription = subscription;
    made->held = held;
    made->size = key.size;
    memcpy(made->key, key.data, key.size);
    hf__loop_post(subscription->conn.node->context->loop, &made->base);
}

bool hf__subscription_listens(const hf__subscription *subscription)
{
    uint32_t state = get_state(subscription);

    return state == HF__SUBSCRIPTION_BEGINS ||
           state == HF__SUBSCRIPTION_LISTENS;
}

void hf__subscription_wait(hf__subscription *subscription, int64_t until_ms)
{
    uint32_t state;

    if (hf__loop_here(subscription->conn.node->context->loop))
        return;
    for (;;) {
        state = get_state(subscription);
        if (state == HF__SUBSCRIPTION_LISTENS ||
            state == HF__SUBSCRIPTION_FAILED || hf__clock_boot_ms() >= until_ms)
            return;
        hf__futex_wait(&subscription->state, state, until_ms, false);
    }
}

static void on_link_closed(hf__async_conn *conn)
{
    hf__subscription *subscription =
        hf__container_of(conn, hf__subscription, conn);

    subscription->closed(subscription);
}

void hf__subscription_close_here(hf__subscription *subscription,
                                 void (*closed)(hf__subscription *subscription))
{
    subscription->closed = closed;
    set_state(subscription, HF__SUBSCRIPTION_FAILED);
    hf__async_conn_close(&subscription->conn, on_link_closed);
}

static void on_closed(hf__subscription *subscription)
{
    __atomic_store_n(&subscription->is_closed, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&subscription->is_closed, false);
}

static void run_close(hf__task *task)
{
    hf__subscription *subscription =
        hf__container_of(task, hf__subscription, close_task);

    hf__subscription_close_here(subscription, on_closed);
}

void hf__subscription_close(hf__subscription *subscription)
{
    if (hf__loop_started(subscription->conn.node->context->loop)) {
        subscription->close_task.run = run_close;
        hf__loop_post(subscription->conn.node->context->loop,
                      &subscription->close_task);
        while (__atomic_load_n(&subscription->is_closed, __ATOMIC_ACQUIRE) == 0)
            hf__futex_wait(&subscription->is_closed, 0, INT64_MAX, false);
    }
    hf__subscription_done(subscription);
}

void hf__subscription_done(hf__subscription *subscription)
{
    hf__channels_done(&subscription->channels);
    hf__arena_free(&subscription->arena);
    hf__async_conn_done(&subscription->conn);
}

void hf__subscription_abandon(hf__subscription *subscription)
{
    hf__async_conn_abandon(&subscription->conn);
}
