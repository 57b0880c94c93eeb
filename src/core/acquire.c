/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire.c - asking the store for a lock, and waiting for it.
 *
 * 1. Draw a new owner id. It stays the same for every try of this call, so
 *    that a try whose answer was lost is resolved by the next one.
 * 2. Try once without queueing. Most calls end here.
 * 3. To wait, pass the gate: one thread of this client waits at the store.
 * 4. Read the event counter of the lock, then try again and queue: the script
 *    does both in one step. A release from then on moves the counter.
 * 5. Sleep until the counter moves, the holder's lease ends, or a backstop of
 *    1 s that grows to 5 s passes (a waiter that was told of nothing, because
 *    the message or its sender died, finds out by itself). Go to 4.
 * 6. On giving up, leave the queue and hand on a wake-up that came too late.
 *    If a try may have been applied, send a release after it: the name should
 *    not be blocked, for as long as the lease, by a holder that does not know
 *    of it.
 */
#include "core/lock.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

#define BACKSTOP_FIRST_MS 1000
#define BACKSTOP_LAST_MS 5000
#define RETRY_FIRST_MS 50
#define RETRY_LAST_MS 500
#define JITTER_MS 20 /* spreads those that wait for the same lease to end */

typedef struct asking {
    hf_lock *lock;
    hf__grant *grant;
    int64_t until_ms;
    int64_t limit_ms; /* request_ms behind it: all is over by then */
    int64_t since_us; /* store's clock; place in the queue; 0: none yet */
    int64_t pttl_ms;  /* of the holder, from the last refusal; -1: no end */
    bool queued;      /* the store may have our inbox in the queue */
    bool unanswered;  /* a try may have been applied, or still be */
    bool unresolved;  /* ... and no later one was answered */
} asking;

static hf_status read_refusal(asking *ask, const hf_reply *reply, hf_error *err)
{
    const hf_reply *items = reply->array.items;

    if (reply->kind != HF_REPLY_ARRAY || reply->array.count != 3 ||
        items[0].kind != HF_REPLY_INTEGER || items[2].kind != HF_REPLY_INTEGER)
        return hf__bad_reply("lock_acquire", err);
    ask->pttl_ms = items[0].integer;
    ask->since_us = items[2].integer;
    return hf__fail(err, HF_HELD, "another owner holds the lock");
}

/* A grant whose answer came when the lease was over already is none; another
 * try by the same owner renews it, or finds out who has the lock now. */
static hf_status check_grant(asking *ask, hf_error *err)
{
    const hf_lock *lock = ask->lock;

    if (hf__clock_boot_ms() < hf__lock_validity(lock, ask->grant->sent_ms))
        return HF_OK;
    ask->unanswered = ask->unresolved = true;
    return hf__fail(err, HF_INDETERMINATE,
                    "the lock was granted, but its lease of %lld ms was over "
                    "when the answer came",
                    (long long)lock->options.ttl_ms);
}

/* One run of the script. `inbox` "": do not queue. */
static hf_status ask_once(asking *ask, const char *inbox, hf_error *err)
{
    hf_lock *lock = ask->lock;
    char since[HF__NUMBER_SIZE];
    hf_bytes words[] = {lock->keys.main,
                        lock->keys.token,
                        lock->keys.waiters,
                        hf_str(ask->grant->owner),
                        lock->ttl_word,
                        hf_str(inbox),
                        inbox[0] == '\0' ? hf_str("0")
                                         : hf__number(since, ask->since_us)};
    hf__request request;
    hf_status status;

    status = hf__run_script_by(lock->client, HF__SCRIPT_LOCK_ACQUIRE, words, 7,
                               3, ask->limit_ms, &request, err);
    ask->grant->sent_ms = request.began_ms;
    if (inbox[0] != '\0')
        ask->queued = true;
    if (status == HF_INDETERMINATE)
        ask->unanswered = ask->unresolved = true;
    else if (status != HF_UNAVAILABLE)
        ask->unresolved = false;
    /* An error half-way leaves what the script did before. */
    if (hf_status_kind(status) == HF_KIND_USAGE ||
        hf_status_kind(status) == HF_KIND_FATAL)
        ask->unanswered = true;
    if (status == HF_OK && request.reply.kind == HF_REPLY_INTEGER)
        ask->grant->token = (uint64_t)request.reply.integer;
    else if (status == HF_OK)
        status = read_refusal(ask, &request.reply, err);
    hf__request_done(&request);
    return status == HF_OK ? check_grant(ask, err) : status;
}

/* Worth another try while there is time? */
static bool may_retry(hf_status status)
{
    return status == HF_HELD || status == HF_UNAVAILABLE ||
           status == HF_INDETERMINATE;
}

/* When to try again at the latest, whether or not an event comes. */
static int64_t next_try(const asking *ask, hf_status status, int round)
{
    int64_t now = hf__clock_boot_ms();
    int64_t pause_ms;

    if (status == HF_HELD) {
        pause_ms =
            hf__at_most((int64_t)BACKSTOP_FIRST_MS << (round < 3 ? round : 3),
                        BACKSTOP_LAST_MS);
        if (ask->pttl_ms >= 0)
            pause_ms = hf__at_most(
                pause_ms, ask->pttl_ms + 1 + hf__rand_between(0, JITTER_MS));
    } else {
        pause_ms = hf__at_most(
            (int64_t)RETRY_FIRST_MS << (round < 4 ? round : 4), RETRY_LAST_MS);
        pause_ms += hf__rand_between(0, pause_ms / 2);
    }
    return hf__at_most(ask->until_ms, hf__clock_after(now, pause_ms));
}

/* Steps 4 and 5, inside the gate. */
static hf_status wait_at_store(asking *ask, hf_error *err)
{
    hf__store *store = ask->lock->client->store;
    hf_bytes topic = ask->lock->keys.main;
    hf_status status;

    for (int round = 0;; round++) {
        uint32_t seq = store->ops->event_seq(
            store, topic,
            hf__at_most(ask->until_ms, hf__clock_after(hf__clock_boot_ms(),
                                                       BACKSTOP_FIRST_MS)));
        int64_t until_ms;

        status = ask_once(ask, store->ops->inbox(store), err);
        if (!may_retry(status) || hf__clock_boot_ms() >= ask->until_ms)
            return status;
        until_ms = next_try(ask, status, round);
        if (status == HF_HELD) {
            if (store->ops->event_wait(store, topic, seq, until_ms))
                round = -1;
        } else {
            hf__clock_sleep_until(until_ms);
        }
    }
}

static void leave_queue(asking *ask)
{
    hf_lock *lock = ask->lock;
    hf__store *store = lock->client->store;
    hf_bytes words[] = {lock->keys.main, lock->keys.waiters,
                        hf_str(store->ops->inbox(store))};
    hf__request request;

    /* The queue forgets us by itself: a failure here costs the others one
     * wake-up at most, which their backstop makes good. */
    if (hf__run_script_by(lock->client, HF__SCRIPT_LOCK_LEAVE, words, 3, 2,
                          ask->limit_ms, &request, NULL) == HF_OK)
        ask->queued = false;
    hf__request_done(&request);
}

/* A release that nobody waits for. */
typedef struct undo {
    hf__request request;
    hf_bytes words[3];
    char owner[HF_OWNER_SIZE];
    char keys[];
} undo;

static void undo_done(hf__request *request)
{
    undo *made = request->user;

    hf__request_done(request);
    hf__free(made);
}

static void undo_acquire(asking *ask)
{
    hf_lock *lock = ask->lock;
    hf__lock_keys *keys = &lock->keys;
    hf__store *store = lock->client->store;
    undo *made =
        hf__alloc(sizeof(*made) + keys->main.size + keys->waiters.size);
    hf__request *request;

    if (made == NULL)
        return; /* the lease ends by itself */
    memcpy(made->owner, ask->grant->owner, sizeof(made->owner));
    memcpy(made->keys, keys->main.data, keys->main.size);
    memcpy(made->keys + keys->main.size, keys->waiters.data,
           keys->waiters.size);
    made->words[0] = hf_view(made->keys, keys->main.size);
    made->words[1] = hf_view(made->keys + keys->main.size, keys->waiters.size);
    made->words[2] = hf_str(made->owner);
    request = &made->request;
    hf__request_init(request);
    request->script = &hf__scripts[HF__SCRIPT_LOCK_RELEASE];
    request->words = made->words;
    request->word_count = 3;
    request->key_count = 2;
    request->repeatable = true;
    request->lane = HF__LANE_LEASE;
    request->deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), lock->options.ttl_ms);
    request->on_done = undo_done;
    request->user = made;
    store->ops->submit(store, &request, 1);
}

static hf_status wait_in_turn(asking *ask, hf_error *err)
{
    hf_client *client = ask->lock->client;
    hf__gate *gate;
    hf_status status;

    status = hf__gate_enter(&client->gates, ask->lock->keys.main, ask->until_ms,
                            &gate, err);
    if (status != HF_OK)
        return status;
    status = wait_at_store(ask, err);
    if (status != HF_OK && ask->queued)
        leave_queue(ask);
    hf__gate_leave(&client->gates, gate);
    return status;
}

/* Tries, and waits if asked to. */
static hf_status ask_and_wait(asking *ask, int64_t wait_ms, hf_error *err)
{
    hf_status status = ask_once(ask, "", err);

    if (wait_ms > 0 && may_retry(status))
        status = wait_in_turn(ask, err);
    if (wait_ms > 0 && status == HF_HELD)
        return hf__fail(err, HF_TIMEOUT,
                        "another owner held the lock for all of %lld ms",
                        (long long)wait_ms);
    return status;
}

hf_status hf__lock_ask(hf_lock *lock, int64_t wait_ms, int64_t until_ms,
                       hf__grant *grant, hf_error *err)
{
    hf_error detail = HF_ERROR_INIT; /* tries before a success leave theirs */
    asking ask = {
        .lock = lock, .grant = grant, .until_ms = until_ms, .pttl_ms = -1};
    hf_status status;

    ask.limit_ms = wait_ms == 0
                       ? INT64_MAX
                       : hf__clock_after(until_ms, lock->client->request_ms);
    hf__rand_hex(grant->owner, (HF_OWNER_SIZE - 1) / 2);
    status = ask_and_wait(&ask, wait_ms, &detail);
    if (status == HF_OK)
        return HF_OK;
    if (ask.unanswered)
        undo_acquire(&ask);
    if (ask.unresolved && status != HF_INDETERMINATE)
        return hf__fail(err, HF_INDETERMINATE,
                        "a try went unanswered; then: %s", detail.message);
    return hf__fail_copy(err, &detail);
}
