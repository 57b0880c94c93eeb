/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redisson_count.c - semaphores and latches of Redisson: numbers without an
 * owner or a lease. What waits is asked again after each message on their
 * channel.
 */
#include "core/client.h"
#include "core/waiting.h"
#include "holdfast/redisson.h"
#include "lease/redisson.h"
#include "script/script_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* A message that was lost costs so much. */
#define POLL_MS 1000
#define KEEP_MS 5000

#define SEMAPHORE "redisson_sc"
#define LATCH "redisson_countdownlatch__channel__"

static const char no_latch[] = "no such latch: it is open, or was never set";

/* ----------------------------------------------------------------- channels */

static size_t channel_room(hf_bytes main)
{
    return sizeof(LATCH) + main.size + 3;
}

/* That of a latch has its own braces, and no colon. */
static hf_bytes put_channel(const char *role, hf_bytes main, char *at)
{
    size_t size = strlen(role);

    if (strcmp(role, LATCH) != 0)
        return hf__redisson_put(role, main, at);
    memcpy(at, role, size);
    at[size++] = '{';
    memcpy(at + size, main.data, main.size);
    size += main.size;
    at[size++] = '}';
    return hf_view(at, size);
}

static hf_status check_name(const hf_call *call, const char *role,
                            hf_bytes name, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (strcmp(role, LATCH) == 0 && call->client->store->shards > 1 &&
        memchr(name.data, '{', name.size) != NULL)
        return hf__fail(err, HF_INVALID,
                        "latch name %s has a '{', with which Redisson fails in "
                        "a cluster",
                        hf__quoted(quoted, name));
    return hf__redisson_check_name(name, err);
}

static void add_name(hf_call *call, const char *role, hf_bytes name)
{
    if (HF__TRY(call,
                hf__layout_check_redisson(call->client->store, call->form.err)))
        hf__add_key(call, name);
    (void)HF__TRY(call, check_name(call, role, name, call->form.err));
}

/* "publish CHANNEL" */
static void add_publish(hf_call *call, const char *role)
{
    const char *verb;
    size_t size;
    char *text;

    if (call->prepared != HF_OK)
        return;
    verb = call->client->layout.verb;
    size = strlen(verb);
    text = hf__call_alloc(call, size + 1 + channel_room(call->words[0]));
    if (text == NULL)
        return;
    memcpy(text, verb, size);
    text[size++] = ' ';
    size += put_channel(role, call->words[0], text + size).size;
    hf__add(call, hf_view(text, size));
}

static void listen_count(const hf_call *call, const char *role)
{
    hf__store *store = call->client->store;
    char *text = hf__alloc(channel_room(call->key));

    if (text == NULL)
        return; /* it polls */
    store->ops->event_channel(store, call->key,
                              put_channel(role, call->key, text),
                              call->client->layout.verb[0] == 's', KEEP_MS);
    hf__free(text);
    atomic_store(&hf__yield_of(call->client, call->key)->listen_until_ms,
                 hf__clock_boot_ms() + KEEP_MS);
}

/* ------------------------------------------------------------------ results */

static hf_status finish_count(hf_call *call, hf_error *err)
{
    if (call->out != NULL)
        *(int64_t *)call->out = call->request.reply.integer;
    (void)err;
    return HF_OK;
}

/* A latch with a number below 0 is open, as for an await. */
static hf_status finish_left(hf_call *call, hf_error *err)
{
    call->request.reply.integer = hf__at_least(call->request.reply.integer, 0);
    return finish_count(call, err);
}

static hf_status finish_set(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 0)
        return hf__fail(err, HF_CONFLICT, "there is one");
    return hf__finish_cas(call, err);
}

static hf_status finish_arrive(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 0)
        return hf__fail(err, HF_NOT_FOUND, no_latch);
    return hf__finish_cas(call, err);
}

static hf_status finish_release(hf_call *call, hf_error *err)
{
    int64_t reply = call->request.reply.integer;
    hf__yield *yield = call->context;
    bool listens = atomic_load(&yield->listen_until_ms) > hf__clock_boot_ms();

    if (reply < 0)
        return hf__finish_cas(call, err);
    if (reply > 1 + listens) /* another program listens */
        hf__yield_begin(yield);
    return HF_OK;
}

#define WITH_RECORD(name)                                                      \
    .script = HF__SCRIPT(name), .once = HF__SCRIPT(name##_ONCE),               \
    .without = {HF__SCRIPT(name), HF__RECORD_WORDS, false},                    \
    .wrote = hf__wrote_number, .alone = true

static const hf__operation set = {WITH_RECORD(REDISSON_COUNT_SET),
                                  .finish = finish_set};
static const hf__operation arrive = {WITH_RECORD(REDISSON_LATCH_ARRIVE),
                                     .finish = finish_arrive};
static const hf__operation release = {WITH_RECORD(REDISSON_SEMAPHORE_RELEASE),
                                      .finish = finish_release};

static const hf__operation read_count = {
    .script = HF__SCRIPT(REDISSON_COUNT_READ),
    .finish = finish_count,
    .alone = true,
};

static const hf__operation read_left = {
    .script = HF__SCRIPT(REDISSON_COUNT_READ),
    .finish = finish_left,
    .alone = true,
};

static const hf__operation acquire = {
    .script = HF__SCRIPT(REDISSON_SEMAPHORE_ACQUIRE),
    .wrote = hf__wrote_number,
    .alone = true,
};

/* -------------------------------------------------------------- words, waits
 */

static void add_count(hf_call *call, int64_t count, int64_t low)
{
    if (HF__TRY(call, hf__check_range(count, low, HF_REDISSON_COUNT_MAX,
                                      "count", call->form.err)))
        hf__add_number(call, count);
}

/* Ask again after a message, or a while. */
static hf__next wait_longer(hf__wait *wait, const char *role)
{
    if (wait->wait_ms > 0)
        listen_count(wait->call, role);
    return hf__wait_longer(wait, POLL_MS);
}

static hf__next read_await(hf__wait *wait)
{
    return wait->call->request.reply.integer <= 0 ? HF__END
                                                  : wait_longer(wait, LATCH);
}

static hf__next read_acquire(hf__wait *wait)
{
    return wait->call->request.reply.integer == 1
               ? HF__END
               : wait_longer(wait, SEMAPHORE);
}

static int64_t pause_acquire(const hf__wait *wait)
{
    return wait->wait_ms == 0 ? 0
                              : hf__yield_left(hf__yield_of(wait->call->client,
                                                            wait->call->key));
}

static const hf__wait_kind awaiting = {
    .read = read_await, .closed = HF_UNAVAILABLE, .what = "the latch to open"};
static const hf__wait_kind acquiring = {.read = read_acquire,
                                        .closed = HF_UNAVAILABLE,
                                        .pause = pause_acquire,
                                        .what = "free permits"};

/* The inbox is the last word. */
static hf_status end_waiting(hf_call *call, const hf__wait_kind *kind,
                             int64_t wait_ms)
{
    hf__add(call, hf_str(""));
    return hf__end_waiting(call, kind, wait_ms, call->count - 1);
}

static hf_status run_set(hf__form form, hf_client *client, const char *role,
                         hf_bytes name, int64_t count)
{
    hf_call here, *call = hf__begin(&here, form, &set, client);

    add_name(call, role, name);
    add_count(call, count, 1);
    if (strcmp(role, LATCH) == 0)
        hf__add(call, hf_str("1"));
    else if (call->prepared == HF_OK)
        hf__add(call, call->words[HF__REDISSON_COUNT_SET_COUNT]);
    add_publish(call, role);
    return hf__end(call);
}

static hf_status run_read(hf__form form, hf_client *client, const char *role,
                          hf_bytes name, int64_t *count, const char *what)
{
    const hf__operation *reading =
        strcmp(role, LATCH) == 0 ? &read_left : &read_count;
    hf_call here, *call = hf__begin(&here, form, reading, client);

    add_name(call, role, name);
    hf__add(call, hf_str(""));
    hf__set_out(call, count, what);
    return hf__end(call);
}

/* ------------------------------------------------------------------ latches */

HF__FORMS(hf_redisson_latch_set, run_set(form, client, LATCH, name, count),
          hf_client *client, hf_bytes name, int64_t count);

static hf_status run_arrive(hf__form form, hf_client *client, hf_bytes name)
{
    hf_call here, *call = hf__begin(&here, form, &arrive, client);

    add_name(call, LATCH, name);
    add_publish(call, LATCH);
    return hf__end(call);
}

HF__FORMS(hf_redisson_latch_arrive, run_arrive(form, client, name),
          hf_client *client, hf_bytes name);

static hf_status run_await(hf__form form, hf_client *client, hf_bytes name,
                           int64_t wait_ms)
{
    hf_call here, *call = hf__begin(&here, form, &read_count, client);

    add_name(call, LATCH, name);
    return end_waiting(call, &awaiting, wait_ms);
}

HF__FORMS(hf_redisson_latch_await, run_await(form, client, name, wait_ms),
          hf_client *client, hf_bytes name, int64_t wait_ms);

HF__FORMS(hf_redisson_latch_inspect,
          run_read(form, client, LATCH, name, left, "left"), hf_client *client,
          hf_bytes name, int64_t *left);

/* --------------------------------------------------------------- semaphores */

HF__FORMS(hf_redisson_semaphore_set,
          run_set(form, client, SEMAPHORE, name, permits), hf_client *client,
          hf_bytes name, int64_t permits);

static hf_status run_acquire(hf__form form, hf_client *client, hf_bytes name,
                             int64_t permits, int64_t wait_ms)
{
    hf_call here, *call = hf__begin(&here, form, &acquire, client);

    add_name(call, SEMAPHORE, name);
    add_count(call, permits, 1);
    return end_waiting(call, &acquiring, wait_ms);
}

HF__FORMS(hf_redisson_semaphore_acquire,
          run_acquire(form, client, name, permits, wait_ms), hf_client *client,
          hf_bytes name, int64_t permits, int64_t wait_ms);

static hf_status run_release(hf__form form, hf_client *client, hf_bytes name,
                             int64_t permits)
{
    hf_call here, *call = hf__begin(&here, form, &release, client);

    add_name(call, SEMAPHORE, name);
    add_count(call, permits, -HF_REDISSON_COUNT_MAX);
    add_publish(call, SEMAPHORE);
    if (call->prepared == HF_OK)
        call->context = hf__yield_of(client, call->key);
    return hf__end(call);
}

HF__FORMS(hf_redisson_semaphore_release,
          run_release(form, client, name, permits), hf_client *client,
          hf_bytes name, int64_t permits);

HF__FORMS(hf_redisson_semaphore_inspect,
          run_read(form, client, SEMAPHORE, name, permits, "permits"),
          hf_client *client, hf_bytes name, int64_t *permits);
