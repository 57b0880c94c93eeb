/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscription.c - listening on the channel of this client.
 *
 * Each message moves the counter of the topic that is its payload. A message
 * sent while no subscription stood is lost, so whenever one begins to stand
 * every counter moves: whoever waits looks again by itself. The connection is
 * made when events are first asked for and then kept. It speaks RESP3 where
 * that is offered, as messages are pushes there and anything else can be said
 * beside them.
 *
 * Nothing may come for hours, so the server is asked for a sign of life when
 * it has been silent for SILENCE_MS: what hangs, or has been cut off without a
 * word, is left after ANSWER_MS, and who waits is told to look by itself. A
 * connection that has given such signs is asked more rarely, since a thousand
 * clients may be waiting for one server.
 *
 * While no subscription stands nobody would be woken, so every counter moves
 * now and then: who waits looks by itself, soon at first, then more rarely.
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

/* One SUBSCRIBE and the login. */
#define OUT_LIMIT 8192

#define SILENCE_MS 5000
#define SILENCE_MAX_MS 120000
#define ANSWER_MS 5000

/* Between two looks of who waits while no subscription stands. */
#define BLIND_MIN_MS 50
#define BLIND_MAX_MS 500

static int64_t first_silence_ms = SILENCE_MS;
static int64_t answer_ms = ANSWER_MS;

void hf__inbox_hurry(int64_t hurried_silence_ms, int64_t hurried_answer_ms)
{
    first_silence_ms = hurried_silence_ms;
    answer_ms = hurried_answer_ms;
}

static void set_state(hf__inbox *inbox, hf__inbox_state state)
{
    __atomic_store_n(&inbox->state, state, __ATOMIC_RELEASE);
    hf__futex_wake_all(&inbox->state, false);
}

static uint32_t get_state(const hf__inbox *inbox)
{
    return __atomic_load_n(&inbox->state, __ATOMIC_ACQUIRE);
}

static void on_up(hf__link *link)
{
    hf__inbox *inbox = hf__container_of(link, hf__inbox, link);
    const char *words[] = {"SUBSCRIBE", inbox->channel};

    inbox->probed_ms = 0;
    inbox->silence_ms = first_silence_ms;
    hf__lookout_reset(&inbox->lookout);
    hf__arena_free(&inbox->arena);
    hf__resp_begin(&link->resp, &inbox->arena, &inbox->message);
    if (hf__resp_put_words(&link->out, words, 2)) {
        hf__link_flush(link);
        return;
    }
    hf__fail(&link->error, HF_NO_MEMORY, "out of memory");
    hf__link_drop(link);
}

static void take_life_sign(hf__inbox *inbox)
{
    inbox->probed_ms = 0;
    inbox->silence_ms = hf__at_most(3 * inbox->silence_ms, SILENCE_MAX_MS);
    inbox->silence_ms -= hf__rand_between(0, inbox->silence_ms / 4);
}

/* false: nothing was asked. */
static bool take_answer(hf__inbox *inbox)
{
    uint32_t bucket;
    bool gone;

    switch (
        hf__lookout_answer(&inbox->lookout, &inbox->message, &bucket, &gone)) {
    case HF__LOOKOUT_NONE:
        return false;
    case HF__LOOKOUT_PING:
        take_life_sign(inbox);
        break;
    case HF__LOOKOUT_TRACK:
        break;
    case HF__LOOKOUT_KEY:
        if (gone)
            hf__events_move(inbox->events, bucket);
        break;
    }
    return true;
}

static void take_changes(hf__inbox *inbox)
{
    size_t count = 0;
    const hf_reply *keys = hf__message_keys(&inbox->message, &count);

    if (keys == NULL)
        hf__events_move_all(inbox->events);
    for (size_t i = 0; i < count; i++) {
        hf_bytes key = hf_view(keys[i].bytes.data, keys[i].bytes.size);

        if (keys[i].kind == HF_REPLY_STRING)
            hf__events_move(inbox->events, hf__events_bucket(key));
    }
}

/* false: it is nothing we know, or have asked for. */
static bool take_message(hf__inbox *inbox)
{
    hf_bytes topic;

    switch (hf__message_read(&inbox->message, &topic)) {
    case HF__MESSAGE_ANSWER:
        return take_answer(inbox);
    case HF__MESSAGE_CHANGED:
        take_changes(inbox);
        return true;
    case HF__MESSAGE_SUBSCRIBED:
        /* In this order, so that who waits for the state does not take this
         * move for an event. */
        hf__events_move_all(inbox->events);
        set_state(inbox, HF__INBOX_LISTENS);
        return true;
    case HF__MESSAGE_EVENT:
        if (inbox->accepts == NULL || inbox->accepts(inbox, topic))
            hf__events_move(inbox->events, hf__events_bucket(topic));
        return true;
    case HF__MESSAGE_NONE:
        break;
    }
    return false;
}

static void refuse(hf__inbox *inbox)
{
    hf__link *link = &inbox->link;
    hf_bytes line;

    if (inbox->message.kind == HF_REPLY_ERROR) {
        line = hf_view(inbox->message.bytes.data, inbox->message.bytes.size);
        hf__redis_error(line, false, &link->error);
    } else {
        hf__fail(&link->error, HF_CORRUPT, "%s sent what is not a message",
                 link->peer);
    }
    hf__link_drop(link);
}

static void on_input(hf__link *link)
{
    hf__inbox *inbox = hf__container_of(link, hf__inbox, link);
    hf__resp_result parsed;

    while (link->state == HF__LINK_UP && hf__buf_size(&link->in) > 0) {
        parsed = hf__resp_feed(&link->resp, &link->in);
        if (parsed == HF__RESP_MORE)
            return;
        if (parsed != HF__RESP_DONE)
            hf__reply_set_nil(&inbox->message);
        if (parsed != HF__RESP_DONE || !take_message(inbox))
            refuse(inbox);
        hf__arena_free(&inbox->arena);
        hf__resp_begin(&link->resp, &inbox->arena, &inbox->message);
    }
}

static void on_drained(hf__link *link)
{
    (void)link;
}

/* A subscription that stood is made again at once; else there is a pause. */
static void on_down(hf__link *link, bool was_up)
{
    hf__inbox *inbox = hf__container_of(link, hf__inbox, link);

    if (was_up && get_state(inbox) == HF__INBOX_LISTENS)
        set_state(inbox, HF__INBOX_TRYING);
    else
        set_state(inbox, HF__INBOX_FAILED);
}

static bool is_wanted(hf__link *link)
{
    (void)link;
    return true;
}

static void send_probe(hf__inbox *inbox, int64_t now_ms)
{
    inbox->probed_ms = now_ms;
    if (hf__lookout_ping(&inbox->lookout, &inbox->link.out))
        hf__link_flush(&inbox->link);
}

/* Look for signs of life; when to be called next. */
static int64_t watch_silence(hf__inbox *inbox, int64_t now_ms)
{
    hf__link *link = &inbox->link;

    if (link->state != HF__LINK_UP)
        return INT64_MAX;
    if (inbox->probed_ms == 0 && now_ms >= link->alive_ms + inbox->silence_ms)
        send_probe(inbox, now_ms);
    if (link->state != HF__LINK_UP)
        return INT64_MAX;
    if (inbox->probed_ms == 0)
        return link->alive_ms + inbox->silence_ms;
    if (now_ms < inbox->probed_ms + answer_ms)
        return inbox->probed_ms + answer_ms;
    hf__fail(&link->error, HF_UNAVAILABLE, "%s gave no sign of life",
             link->peer);
    hf__link_drop(link);
    return INT64_MAX;
}

/* Have who waits look; when to be called next. */
static int64_t look_blindly(hf__inbox *inbox, int64_t now_ms)
{
    if (get_state(inbox) == HF__INBOX_LISTENS) {
        inbox->look_ms = 0;
        return INT64_MAX;
    }
    if (inbox->look_ms == 0)
        inbox->blind_ms = BLIND_MIN_MS;
    else if (now_ms < inbox->look_ms)
        return inbox->look_ms;
    else
        hf__events_move_all(inbox->events);
    inbox->look_ms = now_ms + hf__rand_between(BLIND_MIN_MS, inbox->blind_ms);
    inbox->blind_ms = hf__at_most(2 * inbox->blind_ms, BLIND_MAX_MS);
    return inbox->look_ms;
}

static int64_t on_tick(hf__link *link, int64_t now_ms)
{
    hf__inbox *inbox = hf__container_of(link, hf__inbox, link);
    int64_t next_ms = watch_silence(inbox, now_ms);

    return hf__at_most(next_ms, look_blindly(inbox, now_ms));
}

static const hf__link_ops inbox_link_ops = {
    .up = on_up,
    .input = on_input,
    .drained = on_drained,
    .down = on_down,
    .wanted = is_wanted,
    .tick = on_tick,
};

void hf__inbox_init(hf__inbox *inbox, hf__redis_node *node)
{
    memset(inbox, 0, sizeof(*inbox));
    hf__link_init(&inbox->link, &inbox_link_ops, node, OUT_LIMIT);
    inbox->link.resp3 = true;
    inbox->channel = node->fleet->channel;
    hf__events_init(&inbox->own_events);
    inbox->events = &inbox->own_events;
    hf__arena_init(&inbox->arena);
    atomic_init(&inbox->asked, false);
    atomic_init(&inbox->poked, false);
}

static void run_start(hf__task *task)
{
    hf__inbox *inbox = hf__container_of(task, hf__inbox, start_task);

    if (inbox->link.state == HF__LINK_CLOSED)
        return;
    set_state(inbox, HF__INBOX_TRYING);
    hf__link_update(&inbox->link);
}

void hf__inbox_start(hf__inbox *inbox)
{
    if (atomic_load_explicit(&inbox->asked, memory_order_relaxed) ||
        atomic_exchange(&inbox->asked, true))
        return;
    inbox->start_task.run = run_start;
    hf__loop_post(inbox->link.node->fleet->loop, &inbox->start_task);
}

static void run_poke(hf__task *task)
{
    hf__inbox *inbox = hf__container_of(task, hf__inbox, poke_task);

    atomic_store(&inbox->poked, false);
    hf__link_update(&inbox->link);
}

void hf__inbox_poke(hf__inbox *inbox)
{
    if (!atomic_load(&inbox->asked) || atomic_exchange(&inbox->poked, true))
        return;
    inbox->poke_task.run = run_poke;
    hf__loop_post(inbox->link.node->fleet->loop, &inbox->poke_task);
}

typedef struct key_task {
    hf__task base;
    hf__inbox *inbox;
    size_t size;
    char key[];
} key_task;

static void run_watch_key(hf__task *task)
{
    key_task *self = (key_task *)(void *)task;
    hf__inbox *inbox = self->inbox;
    hf__link *link = &inbox->link;
    hf_bytes key = hf_view(self->key, self->size);

    if (link->state == HF__LINK_UP && link->login.traits.resp3 &&
        get_state(inbox) == HF__INBOX_LISTENS &&
        hf__lookout_key(&inbox->lookout, key, hf__events_bucket(key),
                        &link->out))
        hf__link_flush(link);
    hf__free(self);
}

void hf__inbox_watch_key(hf__inbox *inbox, hf_bytes key)
{
    key_task *made = hf__alloc(sizeof(*made) + key.size);

    if (made == NULL)
        return;
    made->base.run = run_watch_key;
    made->inbox = inbox;
    made->size = key.size;
    memcpy(made->key, key.data, key.size);
    hf__loop_post(inbox->link.node->fleet->loop, &made->base);
}

bool hf__inbox_listens(const hf__inbox *inbox)
{
    return get_state(inbox) == HF__INBOX_LISTENS;
}

void hf__inbox_wait(hf__inbox *inbox, int64_t until_ms)
{
    uint32_t state;

    if (hf__loop_here(inbox->link.node->fleet->loop))
        return;
    for (;;) {
        state = get_state(inbox);
        if (state == HF__INBOX_LISTENS || state == HF__INBOX_FAILED ||
            hf__clock_boot_ms() >= until_ms)
            return;
        hf__futex_wait(&inbox->state, state, until_ms, false);
    }
}

static void on_link_closed(hf__link *link)
{
    hf__inbox *inbox = hf__container_of(link, hf__inbox, link);

    inbox->closed(inbox);
}

void hf__inbox_close_here(hf__inbox *inbox, void (*closed)(hf__inbox *inbox))
{
    inbox->closed = closed;
    set_state(inbox, HF__INBOX_FAILED);
    hf__link_close(&inbox->link, on_link_closed);
}

static void on_closed(hf__inbox *inbox)
{
    __atomic_store_n(&inbox->is_closed, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&inbox->is_closed, false);
}

static void run_close(hf__task *task)
{
    hf__inbox *inbox = hf__container_of(task, hf__inbox, close_task);

    hf__inbox_close_here(inbox, on_closed);
}

void hf__inbox_close(hf__inbox *inbox)
{
    if (hf__loop_started(inbox->link.node->fleet->loop)) {
        inbox->close_task.run = run_close;
        hf__loop_post(inbox->link.node->fleet->loop, &inbox->close_task);
        while (__atomic_load_n(&inbox->is_closed, __ATOMIC_ACQUIRE) == 0)
            hf__futex_wait(&inbox->is_closed, 0, INT64_MAX, false);
    }
    hf__inbox_done(inbox);
}

void hf__inbox_done(hf__inbox *inbox)
{
    hf__arena_free(&inbox->arena);
    hf__link_done(&inbox->link);
}

void hf__inbox_abandon(hf__inbox *inbox)
{
    hf__link_abandon(&inbox->link);
}
