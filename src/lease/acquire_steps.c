/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_steps.c - see acquire_steps.h. */
#include "lease/acquire_steps.h"

#include "core/wrong_type.h"
#include "lease/release.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

#define BACKSTOP_FIRST_MS 1000
#define BACKSTOP_LAST_MS 5000

/* What each waiter before us adds to the backstop, so that a thousand together
 * ask some twenty times in a second; and its end, of which the queue's own life
 * is three times as much (lock_acquire.lua). */
#define BACKSTOP_RANK_MS 500
#define BACKSTOP_MAX_MS 120000

/* ... and to the end of the lease: when its holder is gone, the first should
 * find the lock free, and the others that it has it. */
#define LEASE_END_RANK_MS 20

/* Farther back makes no difference. */
#define AHEAD_MAX 10000

#define RETRY_FIRST_MS 50
#define RETRY_LAST_MS 500
#define JITTER_MS 20 /* spreads those that wait for the same lease to end */

/* Between two looks at a lock that another library holds, which wakes nobody:
 * few milliseconds while it changes hands, more while it does not; so long for
 * each waiter before us and for us (docs/adr/0039). */
#define FOREIGN_FIRST_MS 20
#define FOREIGN_LAST_MS 50

/* After another library's release: at random, or those who only poll would
 * never find the lock free before us. */
#define HOLD_BACK_MS 7

/* After split votes: around twice as long as the votes took, and longer each
 * time, so that one of those who ask is alone with the nodes soon. */
#define SPLIT_MIN_MS 10
#define SPLIT_MAX_MS 250

static void draw_owner(hf__asking *asking)
{
    hf__owner_draw(&asking->lock->client->leases->owners, asking->grant.owner);
}

void hf__asking_init(hf__asking *asking, hf_lock *lock, int64_t wait_ms,
                     int64_t until_ms)
{
    asking->lock = lock;
    asking->mark = hf__interrupt_mark_of(lock);
    asking->wait_ms = wait_ms;
    asking->until_ms = until_ms;
    asking->limit_ms =
        wait_ms == 0 ? INT64_MAX
                     : hf__clock_after(until_ms, lock->client->request_ms);
    asking->since_us = 0;
    asking->pttl_ms = -1;
    asking->ahead = 0;
    asking->foreign = false;
    asking->holder = 0;
    asking->sightings = 0;
    asking->tried = asking->split = false;
    asking->splits = 0;
    asking->queued = asking->unanswered = asking->unresolved = false;
    asking->returning = asking->refused = false;
    draw_owner(asking);
}

/* ------------------------------------------------------------------- a try */

static void undo_acquire(const hf__asking *asking);

/* What the last try left behind is taken back under its own id. */
static void renew_owner(hf__asking *asking)
{
    if (asking->unanswered)
        undo_acquire(asking);
    asking->unanswered = asking->unresolved = false;
    draw_owner(asking);
}

void hf__asking_fill(hf__asking *asking, const char *inbox)
{
    const hf_lock *lock = asking->lock;
    hf_bytes *words = asking->words;
    size_t count = 7;

    if (asking->tried &&
        (lock->client->store->capabilities & HF__CAP_UNDOES) != 0)
        renew_owner(asking);
    else if (asking->refused)
        draw_owner(asking); /* it tells since when the lock is held */
    asking->refused = false;
    asking->tried = true;
    words[0] = lock->keys.main;
    words[1] = lock->keys.token;
    words[2] = lock->keys.waiters;
    words[3] = hf_str(asking->grant.owner);
    words[4] = lock->ttl_word;
    words[5] = hf_str(inbox);
    words[6] = hf_str("0");
    if (inbox[0] != '\0') {
        words[6] = hf__number(asking->since_text, asking->since_us);
        asking->queued = true;
    }
    if (lock->argument.size > 0)
        words[count++] = lock->argument;
    hf__request_script(&asking->request, &hf__scripts[lock->kind->acquire],
                       words, count, 3);
    hf__replicas_ask(&asking->request, &lock->replicas, hf__wrote_number);
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash_of(hf_bytes owner)
{
    const unsigned char *bytes = owner.data;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t at = 0; at < owner.size; at++)
        hash = (hash ^ bytes[at]) * UINT64_C(1099511628211);
    return hash;
}

static void note_holder(hf__asking *asking, const hf_reply *owner)
{
    uint64_t holder = hash_of(hf_view(owner->bytes.data, owner->bytes.size));

    asking->sightings = holder == asking->holder ? asking->sightings + 1 : 0;
    asking->holder = holder;
    asking->foreign =
        !hf__owner_is_ours(hf_view(owner->bytes.data, owner->bytes.size));
}

static hf_status read_refusal(hf__asking *asking, hf_error *err)
{
    const hf_reply *reply = &asking->request.reply;
    const hf_reply *items = reply->array.items;

    if (reply->kind != HF_REPLY_ARRAY || reply->array.count < 3 ||
        items[0].kind != HF_REPLY_INTEGER || items[1].kind != HF_REPLY_STRING ||
        items[2].kind != HF_REPLY_INTEGER)
        return hf__bad_reply(hf__scripts[asking->lock->kind->acquire].name,
                             err);
    asking->pttl_ms = items[0].integer;
    note_holder(asking, &items[1]);
    asking->since_us = items[2].integer;
    asking->ahead = 0;
    if (reply->array.count > 3 && items[3].kind == HF_REPLY_INTEGER)
        asking->ahead =
            hf__at_least(hf__at_most(items[3].integer, AHEAD_MAX), 0);
    asking->split = items[0].integer == 0;
    asking->splits = asking->split ? asking->splits + 1 : 0;
    return hf__fail(err, HF_HELD, "%s", asking->lock->kind->refused);
}

/* A grant whose answer came when the lease was over already is none; another
 * try by the same owner renews it, or finds out who has the lock now. */
static hf_status check_grant(hf__asking *asking, hf_error *err)
{
    const hf_lock *lock = asking->lock;

    if (hf__clock_boot_ms() < hf__lock_validity(lock, asking->grant.sent_ms))
        return HF_OK;
    asking->unanswered = asking->unresolved = true;
    return hf__fail(err, HF_INDETERMINATE,
                    "the lock was granted, but its lease of %lld ms was over "
                    "when the answer came",
                    (long long)lock->options.ttl_ms);
}

/* Too few replicas have the lock. */
static hf_status must_return(hf__asking *asking, hf_error *err)
{
    asking->unanswered = true;
    asking->returning = true;
    asking->return_by_ms = asking->request.deadline_ms;
    if (asking->wait_ms == HF_FOREVER)
        asking->until_ms = 0; /* replicas may be missing for as long */
    return hf__replicas_fail(&asking->request, HF_UNAVAILABLE,
                             "the lock was granted and given back", err);
}

static void name_counter(const hf__asking *asking, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (err != NULL && strncmp(err->message, "HFTOKEN", 7) == 0)
        hf__fail_prefix(err, "key %s",
                        hf__quoted(quoted, asking->lock->keys.token));
}

hf_status hf__asking_read(hf__asking *asking, hf_status status, hf_error *err)
{
    hf__request *request = &asking->request;
    bool granted = status == HF_OK && request->reply.kind == HF_REPLY_INTEGER;

    asking->grant.sent_ms = request->began_ms;
    asking->grant.acked = request->replicas != NULL ? request->acked : -1;
    if (status == HF_INDETERMINATE)
        asking->unanswered = asking->unresolved = true;
    else if (status != HF_UNAVAILABLE)
        asking->unresolved = false;
    /* An error half-way leaves what the script did before. */
    if (hf_status_kind(status) == HF_KIND_USAGE ||
        hf_status_kind(status) == HF_KIND_FATAL)
        asking->unanswered = true;
    if (granted)
        asking->grant.token = (uint64_t)request->reply.integer;
    else if (status == HF_OK)
        status = read_refusal(asking, err);
    if (status == HF_CORRUPT)
        name_counter(asking, err);
    /* Nothing under this owner id is on its way any more. */
    asking->refused =
        status == HF_HELD && !asking->unanswered && request->sends < 2;
    hf__request_done(request);
    if (granted && hf__replicas_missed(request))
        return must_return(asking, err);
    return granted ? check_grant(asking, err) : status;
}

hf_status hf__asking_heed_interrupt(hf__asking *asking, hf_status status,
                                    hf_error *err)
{
    if (!hf__interrupted(asking->lock, asking->mark) ||
        (status != HF_OK && !hf__asking_may_retry(status)))
        return status;
    if (status == HF_OK) {
        asking->unanswered = asking->returning = true;
        asking->return_by_ms = hf__clock_after(
            hf__clock_boot_ms(), asking->lock->client->request_ms);
    }
    return asking->unresolved ? status
                              : hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
}

void hf__asking_fill_return(hf__asking *asking)
{
    const hf_lock *lock = asking->lock;

    asking->words[0] = lock->keys.main;
    asking->words[1] = lock->keys.waiters;
    asking->words[2] = hf_str(asking->grant.owner);
    hf__request_script(&asking->request, &hf__scripts[lock->kind->release],
                       asking->words, 3, 2);
}

void hf__asking_read_return(hf__asking *asking, hf_status status)
{
    hf__request_done(&asking->request);
    asking->returning = false;
    if (status == HF_OK)
        asking->unanswered = asking->unresolved = false;
    renew_owner(asking);
}

bool hf__asking_may_retry(hf_status status)
{
    return status == HF_HELD || status == HF_UNAVAILABLE ||
           status == HF_INDETERMINATE;
}

bool hf__asking_heeds_events(const hf__asking *asking, hf_status status)
{
    return status == HF_HELD && !asking->split;
}

/* What was asked for once is told once: so again for each new holder, and after
 * each event. */
void hf__asking_watch_holder(const hf__asking *asking, hf_status status,
                             int round)
{
    const hf_lock *lock = asking->lock;
    hf__store *store = lock->client->store;

    if (status == HF_HELD && asking->foreign &&
        (round <= 0 || asking->sightings == 0) && store->ops->event_key != NULL)
        store->ops->event_key(store, lock->keys.main);
}

int64_t hf__asking_hold_back(const hf__asking *asking)
{
    return asking->foreign ? hf__rand_between(0, HOLD_BACK_MS) : 0;
}

static int64_t split_pause(const hf__asking *asking, int64_t now_ms)
{
    int doublings = asking->splits < 6 ? asking->splits - 1 : 5;
    int64_t base_ms =
        hf__at_least(2 * (now_ms - asking->grant.sent_ms), SPLIT_MIN_MS);

    base_ms = hf__at_most(base_ms << doublings, SPLIT_MAX_MS);
    return hf__rand_between(base_ms / 2, base_ms + base_ms / 2);
}

static int64_t foreign_pause(const hf__asking *asking)
{
    int doublings = asking->sightings < 8 ? asking->sightings : 8;
    int64_t low_ms =
        hf__at_most((int64_t)FOREIGN_FIRST_MS << doublings, FOREIGN_LAST_MS);

    return hf__rand_between(low_ms, 2 * low_ms) * (1 + asking->ahead);
}

/* The jitter keeps those apart that began together. */
static int64_t backstop(const hf__asking *asking, int round)
{
    int64_t pause_ms =
        hf__at_most((int64_t)BACKSTOP_FIRST_MS << (round < 3 ? round : 3),
                    BACKSTOP_LAST_MS);

    if (asking->ahead > 0) {
        pause_ms = hf__at_most(pause_ms + asking->ahead * BACKSTOP_RANK_MS,
                               BACKSTOP_MAX_MS);
        pause_ms -= hf__rand_between(0, pause_ms / 2);
    }
    if (asking->foreign)
        pause_ms = hf__at_most(pause_ms, foreign_pause(asking));
    if (asking->pttl_ms < 0)
        return pause_ms;
    return hf__at_most(pause_ms, asking->pttl_ms + 1 +
                                     hf__rand_between(0, JITTER_MS) +
                                     asking->ahead * LEASE_END_RANK_MS);
}

int64_t hf__asking_next_try(const hf__asking *asking, hf_status status,
                            int round)
{
    int64_t now = hf__clock_boot_ms();
    int64_t pause_ms;

    if (status == HF_HELD && asking->split) {
        pause_ms = split_pause(asking, now);
    } else if (status == HF_HELD) {
        pause_ms = backstop(asking, round);
    } else {
        pause_ms = hf__at_most(
            (int64_t)RETRY_FIRST_MS << (round < 4 ? round : 4), RETRY_LAST_MS);
        pause_ms += hf__rand_between(0, pause_ms / 2);
    }
    return hf__at_most(asking->until_ms, hf__clock_after(now, pause_ms));
}

/* --------------------------------------------------------------- giving up */

void hf__asking_fill_leave(hf__asking *asking)
{
    const hf_lock *lock = asking->lock;
    hf__store *store = lock->client->store;

    asking->words[0] = lock->keys.main;
    asking->words[1] = lock->keys.waiters;
    asking->words[2] = hf_str(store->ops->inbox(store));
    hf__request_script(&asking->request, &hf__scripts[lock->kind->leave],
                       asking->words, 3, 2);
}

static void undo_acquire(const hf__asking *asking)
{
    hf__lock_undo(asking->lock, asking->grant.owner);
}

static hf_status verdict(const hf__asking *asking, hf_status status,
                         const hf_error *detail, hf_error *err)
{
    if (asking->unresolved && status != HF_INDETERMINATE)
        return hf__fail(err, HF_INDETERMINATE,
                        "a try went unanswered; then: %s", detail->message);
    if (status == HF_HELD && asking->wait_ms > 0)
        return hf__fail(err, HF_TIMEOUT, "timed out after %lld ms: %s",
                        (long long)asking->wait_ms,
                        asking->lock->kind->refused);
    hf__fail_copy(err, detail);
    if (status == HF_WRONG_TYPE)
        hf__wrong_type_name(&asking->request, err);
    return status;
}

hf_status hf__asking_end(hf__asking *asking, hf_status status,
                         const hf_error *detail, hf_error *err)
{
    if (status == HF_OK)
        return HF_OK;
    if (asking->unanswered)
        undo_acquire(asking);
    return verdict(asking, status, detail, err);
}
