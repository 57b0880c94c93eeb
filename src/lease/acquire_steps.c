/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_steps.c - see acquire_steps.h. */
#include "lease/acquire_steps.h"

#include <stdio.h>

#include "core/wrong_type.h"
#include "lease/redisson.h"
#include "lease/release.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/hash_bytes.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

#define POLL_FIRST_MS 1000
#define POLL_LAST_MS 5000

/* Each position in the queue adds this to the pause, so that a thousand waiters
 * together send some twenty requests a second. The wait queue lives three times
 * as long as the longest pause (lock_acquire.lua). */
#define POLL_RANK_MS 500
#define POLL_MAX_MS 120000

/* Added per position to the end of the lease: the first waiter should find the
 * lock free, and the others find it held by the first. */
#define LEASE_END_RANK_MS 20

/* Larger positions count as this one. */
#define POSITION_MAX 10000

#define RETRY_FIRST_MS 50
#define RETRY_LAST_MS 500
#define JITTER_MS 20 /* spreads those that wait for the same lease to end */

/* Left to a waiter of the same client with a higher priority. */
#define OUTRANKED_MS 7

/* Between two polls of a foreign holder's lock: short while it changes hands,
 * longer while it does not, times the position (docs/adr/0039). */
#define FOREIGN_FIRST_MS 20
#define FOREIGN_LAST_MS 50

/* Clocks here and at the store may differ by this share of the time since the
 * last refusal: 1 %, as in the validity of a lease (lease.c). */
#define CLOCK_DRIFT 100

/* After split votes: about twice what the votes took, and longer each time, so
 * that soon one caller is alone with the nodes. */
#define SPLIT_MIN_MS 10
#define SPLIT_MAX_MS 250

/* The servers of a quorum run a release at different instants: a try after the
 * first of their messages would be refused by the others, and what the first
 * had reserved would be free for all. Half of what is reserved (hand_over). */
#define GATHER_MS 50

/* {pttl, holder, store's clock, position in the queue} */
#define REFUSAL_ITEMS_MAX 4

/* An event so soon after the key was tracked again says that it exists. */
#define LOOK_AGAIN_MS 2

static void draw_owner(hf__steps *steps, int64_t now_ms)
{
    hf__owner_draw(&steps->lock->client->leases->owners, now_ms,
                   steps->grant.owner);
}

void hf__steps_init(hf__steps *steps, hf_lock *lock, int64_t wait_ms,
                    int64_t until_ms, hf__interrupt_mark mark)
{
    steps->lock = lock;
    steps->mark = mark;
    steps->wait_ms = wait_ms;
    steps->until_ms = until_ms;
    steps->limit_ms = wait_ms == 0
                          ? INT64_MAX
                          : hf__clock_after(until_ms, lock->client->request_ms);
    steps->since_us = 0;
    steps->pttl_ms = -1;
    steps->position = 0;
    steps->foreign = false;
    steps->holder = 0;
    steps->refusals = 0;
    steps->tried = steps->split = false;
    steps->splits = 0;
    steps->queued = steps->unanswered = steps->unresolved = false;
    steps->returning = steps->refused = steps->turn = false;
    steps->gap_ms = steps->left_ms = steps->pass.rest_ms = 0;
    steps->entered_ms = hf__clock_boot_ms();
    steps->asked_ms = steps->clock_us = 0;
    steps->queue = NULL;
    steps->entry = NULL;
    steps->end = (hf__end_first){.outcome.what = NULL};
    draw_owner(steps, steps->entered_ms);
}

/* ------------------------------------------------------------------- a try */

static void undo_acquire(const hf__steps *steps);

/* The last try is undone under its own id. */
static void renew_owner(hf__steps *steps)
{
    if (steps->unanswered)
        undo_acquire(steps);
    steps->unanswered = steps->unresolved = false;
    draw_owner(steps, hf__clock_boot_ms());
}

bool hf__steps_listens(const hf__steps *steps)
{
    const hf_lock *lock = steps->lock;
    hf__store *store = lock->client->store;

    return lock->kind->redisson == NULL && store->ops->event_listens != NULL &&
           store->ops->event_listens(store, lock->keys.main);
}

static bool store_undoes(const hf__steps *steps)
{
    return (steps->lock->client->store->capabilities & HF__CAP_UNDOES) != 0;
}

/* What is queued at the store, see scripts/README.md; "": out of memory. On a
 * quorum no server may grant it alone. */
static hf_bytes entry_of(hf__steps *steps)
{
    const hf_lock *lock = steps->lock;
    hf__store *store = lock->client->store;
    const char *inbox = store->ops->inbox(store);
    hf_bytes extra =
        lock->kind->mode != NULL ? hf_str(lock->kind->mode) : lock->argument;
    size_t size = strlen(inbox) + extra.size + 2 * HF_OWNER_SIZE;

    if (steps->entry == NULL)
        steps->entry = hf__alloc(size);
    if (steps->entry == NULL)
        return hf_str("");
    snprintf(steps->entry, size, "%lld%s%.*s %s%s",
             store_undoes(steps) || lock->options.delay_ms > 0
                 ? 0LL
                 : (long long)lock->lease_ms,
             extra.size > 0 ? "," : "", (int)extra.size,
             extra.size > 0 ? (const char *)extra.data : "", inbox,
             steps->grant.owner + HF__CLIENT_ID_SIZE - 1);
    return hf_str(steps->entry);
}

static void fill_entry(hf__steps *steps)
{
    hf_bytes *words = steps->words;
    int64_t rank = hf__lock_rank(steps->lock);

    words[HF__LOCK_ACQUIRE_ENTRY] = hf_str("");
    words[HF__LOCK_ACQUIRE_BEGAN] = hf_str("0");
    words[HF__LOCK_ACQUIRE_RANK] =
        rank == 0 ? hf_str("0") : hf__number(steps->rank_text, rank);
    if (steps->queue == NULL)
        return;
    if (steps->lock->kind->redisson != NULL) {
        steps->queued = steps->lock->kind->redisson->by_owner;
        if (steps->queued)
            words[HF__LOCK_ACQUIRE_ENTRY] = hf_str("1");
        return;
    }
    if (!store_undoes(steps) && !hf__steps_listens(steps))
        return; /* it would be skipped as dead; the subscription wakes it */
    if (!steps->queued || !store_undoes(steps))
        (void)entry_of(steps);
    if (steps->entry == NULL)
        return;
    if (steps->since_us == 0) /* it began to wait behind others of its client */
        steps->since_us =
            hf__wait_queue_clock(&steps->lock->client->leases->queues,
                                 steps->queue, steps->entered_ms);
    words[HF__LOCK_ACQUIRE_ENTRY] = hf_str(steps->entry);
    words[HF__LOCK_ACQUIRE_BEGAN] =
        hf__number(steps->since_text, steps->since_us);
    steps->queued = true;
    hf__wait_queue_expect(&steps->lock->client->leases->queues, steps->queue,
                          steps->grant.owner);
}

/* A token alone, or with more than a refusal has. */
static bool is_grant(const hf_reply *reply)
{
    return reply->kind == HF_REPLY_INTEGER ||
           (reply->kind == HF_REPLY_ARRAY &&
            reply->array.count > REFUSAL_ITEMS_MAX);
}

static bool wrote_grant(const hf__request *request)
{
    return is_grant(&request->reply);
}

/* Behind the other keys; returns how many words there are then. */
static size_t insert_own_key(const hf_lock *lock, hf_bytes *words, size_t count)
{
    hf_bytes *at = words + HF__LOCK_ACQUIRE_KEYS;

    if (lock->own_key.size == 0)
        return count;
    memmove(at + 1, at, (count - HF__LOCK_ACQUIRE_KEYS) * sizeof(*at));
    *at = lock->own_key;
    return count + 1;
}

void hf__steps_fill(hf__steps *steps)
{
    const hf_lock *lock = steps->lock;
    hf__store *store = lock->client->store;
    hf_bytes *words = steps->words;
    size_t count = HF__LOCK_ACQUIRE_WORDS, with_own;

    if (steps->tried && store_undoes(steps))
        renew_owner(steps);
    else if (steps->refused && !steps->queued && lock->kind->redisson == NULL)
        /* it says since when the lease is held */
        draw_owner(steps, hf__clock_boot_ms());
    steps->refused = false;
    steps->tried = true;
    steps->gather_ms = 0;
    if (store_undoes(steps))
        store->ops->event_votes(store, lock->keys.topic, steps->votes);
    words[HF__LOCK_ACQUIRE_LOCK] = lock->keys.main;
    words[HF__LOCK_ACQUIRE_LAST_TOKEN] = lock->keys.token;
    words[HF__LOCK_ACQUIRE_WAITERS] = lock->keys.waiters;
    words[HF__LOCK_ACQUIRE_OWNER] = hf_str(steps->grant.owner);
    words[HF__LOCK_ACQUIRE_TTL] =
        hf__number(steps->lease_text, lock->lease_ms + lock->options.delay_ms);
    fill_entry(steps);
    if (lock->argument.size > 0)
        words[count++] = lock->argument;
    if (hf__steps_ends(steps))
        count = hf__steps_add_end(steps, count);
    /* The shorter request of a plain try costs a server less. */
    if (lock->kind->acquire == HF__SCRIPT_LOCK_ACQUIRE &&
        words[HF__LOCK_ACQUIRE_ENTRY].size == 0)
        count = HF__LOCK_ACQUIRE_ENTRY;
    with_own = insert_own_key(lock, words, count);
    hf__request_script(&steps->request, &hf__scripts[lock->kind->acquire],
                       words, with_own,
                       HF__LOCK_ACQUIRE_KEYS + (with_own - count));
    hf__request_replicate(&steps->request, &lock->replicas, wrote_grant);
}

static hf__turns_table *turns_of(const hf__steps *steps)
{
    return &steps->lock->client->leases->turns;
}

static void note_holder(hf__steps *steps, const hf_reply *reply)
{
    hf_bytes owner = hf_view(reply->bytes.data, reply->bytes.size);
    uint64_t holder = hf__hash(owner, 0);
    bool ours = hf__owner_is_ours(owner);

    steps->refusals = holder == steps->holder ? steps->refusals + 1 : 0;
    steps->holder = holder;
    steps->foreign = steps->lock->kind->redisson == NULL && !ours;
    if (steps->refusals > 0)
        return;
    if (steps->foreign) {
        hf__turns_note_foreign(turns_of(steps), steps->lock->hash, owner);
    } else if (ours) {
        hf_bytes client = hf__owner_client(owner);

        if (memcmp(client.data, steps->grant.owner, client.size) != 0)
            hf__turns_note_ours(turns_of(steps), steps->lock->hash, client);
    }
}

static hf_status read_refusal(hf__steps *steps, hf_error *err)
{
    const hf_reply *reply = &steps->request.reply;
    const hf_reply *items = reply->array.items;
    hf_status status = HF_HELD;

    if (reply->kind != HF_REPLY_ARRAY || reply->array.count < 3 ||
        items[0].kind != HF_REPLY_INTEGER || items[1].kind != HF_REPLY_STRING ||
        items[2].kind != HF_REPLY_INTEGER)
        return hf__bad_reply(hf__scripts[steps->lock->kind->acquire].name, err);
    if (steps->lock->kind->read_reply != NULL)
        status = steps->lock->kind->read_reply(steps->lock, items, err);
    if (status != HF_HELD)
        return status;
    steps->pttl_ms = items[0].integer;
    note_holder(steps, &items[1]);
    steps->asked_ms = steps->request.began_ms;
    steps->clock_us = items[2].integer;
    if (steps->since_us == 0)
        steps->since_us = steps->clock_us;
    if (steps->queue != NULL)
        hf__wait_queue_note_clock(&steps->lock->client->leases->queues,
                                  steps->queue, steps->asked_ms,
                                  steps->clock_us);
    steps->position = 0;
    if (reply->array.count > 3 && items[3].kind == HF_REPLY_INTEGER)
        steps->position =
            hf__at_least(hf__at_most(items[3].integer, POSITION_MAX), 0);
    steps->split = items[0].integer == 0;
    steps->splits = steps->split ? steps->splits + 1 : 0;
    return hf__fail(err, HF_HELD, "%s", steps->lock->kind->refused);
}

/* A grant that arrives after its own lease does not count; another try by the
 * same owner renews it or finds the new holder. */
static hf_status check_grant(hf__steps *steps, hf_error *err)
{
    const hf_lock *lock = steps->lock;

    if (hf__clock_boot_ms() <
        hf__lock_validity(lock, steps->grant.sent_ms, steps->grant.lease_ms))
        return HF_OK;
    steps->unanswered = steps->unresolved = true;
    return hf__fail(err, HF_INDETERMINATE,
                    "granted, but the reply took longer than the lease of "
                    "%lld ms",
                    (long long)lock->lease_ms);
}

static hf_status return_grant(hf__steps *steps, hf_error *err)
{
    steps->unanswered = true;
    steps->returning = true;
    steps->return_by_ms = steps->request.deadline_ms;
    if (steps->wait_ms == HF_FOREVER)
        steps->until_ms = 0; /* replicas may never come back */
    return hf__replicas_fail(&steps->request, HF_UNAVAILABLE,
                             "granted, then released: not enough replicas",
                             err);
}

/* What cannot be kept is given back. */
static hf_status read_grant(hf__steps *steps, hf_error *err)
{
    const hf_reply *reply = &steps->request.reply;
    hf_status status = HF_OK;

    if (reply->kind == HF_REPLY_ARRAY) {
        status = steps->lock->kind->keep(steps->lock, reply, err);
        reply = &reply->array.items[0];
    }
    steps->grant.token = (uint64_t)reply->integer;
    if (status != HF_OK)
        steps->unanswered = true;
    return status;
}

static void name_counter(const hf__steps *steps, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (err != NULL && strncmp(err->message, "HFTOKEN", 7) == 0)
        hf__fail_prefix(err, "key %s",
                        hf__quoted(quoted, steps->lock->keys.token));
}

hf_status hf__steps_read(hf__steps *steps, hf_status status, hf_error *err)
{
    hf__request *request = &steps->request;
    bool granted = status == HF_OK && is_grant(&request->reply);
    bool answered = status == HF_OK && hf__steps_ends(steps);
    bool again = steps->end.again || steps->unresolved || request->sends > 1;

    steps->turn = false;
    steps->grant.sent_ms = request->began_ms;
    steps->grant.lease_ms = steps->lock->lease_ms;
    steps->grant.asked_ms = steps->asked_ms;
    steps->grant.clock_us = steps->clock_us;
    steps->grant.acked = request->replicas != NULL ? request->acked : -1;
    if (status == HF_INDETERMINATE)
        steps->unanswered = steps->unresolved = true;
    else if (status != HF_UNAVAILABLE)
        steps->unresolved = false;
    /* A script that failed half-way is not rolled back. */
    if (hf_status_kind(status) == HF_KIND_USAGE ||
        hf_status_kind(status) == HF_KIND_FATAL)
        steps->unanswered = true;
    steps->end.answered = steps->end.answered || granted;
    if (granted)
        status = read_grant(steps, err);
    else if (status == HF_OK)
        status = read_refusal(steps, err);
    if (answered)
        status = hf__steps_read_end(steps, status, again, err);
    if (status == HF_CORRUPT)
        name_counter(steps, err);
    /* No request with this owner id is in flight. */
    steps->refused =
        status == HF_HELD && !steps->unanswered && request->sends < 2;
    hf__request_done(request);
    if (granted && status == HF_OK && hf__request_missed(request))
        return return_grant(steps, err);
    return granted && status == HF_OK ? check_grant(steps, err) : status;
}

hf_status hf__steps_check_interrupt(hf__steps *steps, hf_status status,
                                    hf_error *err)
{
    if (!hf__interrupted(steps->lock, steps->mark) ||
        (status != HF_OK && !hf__steps_may_retry(status)))
        return status;
    if (status == HF_OK) {
        steps->unanswered = steps->returning = true;
        steps->return_by_ms = hf__clock_after(hf__clock_boot_ms(),
                                              steps->lock->client->request_ms);
    }
    return steps->unresolved || hf__steps_ends(steps)
               ? status
               : hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
}

void hf__steps_fill_return(hf__steps *steps)
{
    hf__lock_release_fill(steps->lock, &steps->request, steps->words,
                          steps->grant.owner);
}

void hf__steps_read_return(hf__steps *steps, hf_status status)
{
    hf__request_done(&steps->request);
    steps->returning = false;
    if (status == HF_OK)
        steps->unanswered = steps->unresolved = false;
    renew_owner(steps);
}

/* A lower bound of the instant, here, at which the store's clock showed at_us:
 * at clock_us it was not before asked_ms. */
static int64_t instant_of(const hf__steps *steps, int64_t at_us)
{
    int64_t since_ms = (at_us - steps->clock_us) / 1000;

    return steps->asked_ms + since_ms - 1 -
           (since_ms > 0 ? since_ms / CLOCK_DRIFT : 0);
}

/* The same of a grant that was heard of; INT64_MAX: it may be too long ago. On
 * a store whose clock may be set all that is known is that it was after the
 * refusal; half of the lease is to be left for the first renewal. */
static int64_t granted_ms(const hf__steps *steps, const hf__handed *handed)
{
    uint32_t capabilities = steps->lock->client->store->capabilities;
    int64_t passed_ms = hf__clock_boot_ms() - steps->asked_ms;

    if ((capabilities & HF__CAP_GUARDED) == 0)
        return instant_of(steps, handed->at_us);
    return passed_ms <= handed->lease_ms / 2 ? steps->asked_ms : INT64_MAX;
}

/* false: its lease may be over. */
static bool accept_grant(hf__steps *steps, const hf__handed *handed,
                         int64_t sent_ms)
{
    hf__grant *grant = &steps->grant;

    if (hf__lock_validity(steps->lock, sent_ms, handed->lease_ms) <=
        hf__clock_boot_ms())
        return false;
    grant->sent_ms = sent_ms;
    grant->lease_ms = handed->lease_ms;
    grant->token = handed->token;
    grant->acked = -1;
    grant->asked_ms = steps->asked_ms;
    grant->clock_us = steps->clock_us;
    steps->unanswered = steps->unresolved = false;
    return true;
}

/* Does the last event say that it was given to this call? */
static bool hear_grant(const hf__steps *steps, hf__handed *handed)
{
    hf__store *store = steps->lock->client->store;
    char text[HF__STORE_TEXT_MAX];
    size_t size = 0;

    if (store->ops->event_text != NULL)
        size = store->ops->event_text(store, steps->lock->keys.topic, text);
    return size > 0 && hf__handed_read(hf_view(text, size), handed) &&
           handed->what == HF__HANDED_GRANT &&
           strcmp(handed->owner, steps->grant.owner) == 0;
}

/* An embedded store does not know of each event what it said: then look whether
 * the lock says that it was handed over. That takes no write transaction, as
 * another try would; of a kind whose key is no string it would find nothing. */
static void find_grant(const hf__steps *steps, hf__handed *handed)
{
    const hf_lock *lock = steps->lock;
    const hf_bytes words[] = {hf_str("GET"), lock->keys.main};
    hf__request request;

    if (hear_grant(steps, handed))
        return;
    handed->what = HF__HANDED_NOTHING;
    if (!lock->kind->is_string)
        return;
    hf__request_command(&request, words, 2, true);
    handed->lease_ms = hf__at_most(lock->lease_ms, HF__HANDED_LEASE_MS);
    if (hf__run_inside(lock->client, &request, steps->limit_ms, NULL) !=
            HF_OK ||
        request.reply.kind != HF_REPLY_STRING ||
        !hf__handed_find(
            hf_view(request.reply.bytes.data, request.reply.bytes.size),
            handed))
        handed->what = HF__HANDED_NOTHING;
    hf__request_done(&request);
}

bool hf__steps_take_grant(hf__steps *steps)
{
    hf_client *client = steps->lock->client;
    hf__handed handed;
    int64_t sent_ms;

    if ((client->store->capabilities & HF__CAP_LOCAL) != 0)
        find_grant(steps, &handed);
    else
        hf__wait_queue_take(&client->leases->queues, steps->queue, &handed);
    steps->turn =
        handed.what == HF__HANDED_TURN || handed.what == HF__HANDED_GAP;
    steps->gap_ms = handed.what == HF__HANDED_GAP ? handed.lease_ms : 0;
    if (handed.what != HF__HANDED_GRANT || steps->clock_us == 0 ||
        handed.at_us <= steps->clock_us || /* perhaps refused since */
        strcmp(handed.owner, steps->grant.owner) != 0 ||
        steps->lock->replicas.count > 0)
        return false;
    sent_ms = granted_ms(steps, &handed);
    /* In the future: the store's clock was set forward, or it is not known. */
    return sent_ms <= hf__clock_boot_ms() &&
           accept_grant(steps, &handed, sent_ms);
}

hf__pass *hf__steps_offer(hf__steps *steps)
{
    const hf_lock *lock = steps->lock;

    steps->pass = (hf__pass){.entered_ms = steps->entered_ms,
                             .handed.what = HF__HANDED_NOTHING};
    if (!lock->kind->passes || store_undoes(steps) ||
        lock->replicas.count > 0 || lock->options.delay_ms > 0 ||
        entry_of(steps).size == 0)
        return NULL;
    steps->pass.entry = steps->entry;
    return &steps->pass;
}

bool hf__steps_take_pass(hf__steps *steps)
{
    const hf__pass *pass = &steps->pass;

    steps->queued = steps->queued || pass->queued;
    if (pass->handed.what != HF__HANDED_GRANT)
        return false;
    steps->tried = true;
    steps->asked_ms = pass->asked_ms;
    steps->clock_us = pass->clock_us;
    return accept_grant(steps, &pass->handed, pass->sent_ms);
}

bool hf__steps_may_retry(hf_status status)
{
    return status == HF_HELD || status == HF_UNAVAILABLE ||
           status == HF_INDETERMINATE;
}

/* Which servers of a quorum have sent a message since the last try? */
static hf__agreement agreement_of(const hf__steps *steps)
{
    hf__store *store = steps->lock->client->store;

    return store->ops->event_agreed(store, steps->lock->keys.topic,
                                    steps->votes);
}

bool hf__steps_use_events(const hf__steps *steps, hf_status status)
{
    if (status != HF_HELD || !store_undoes(steps))
        return status == HF_HELD && !steps->split;
    return agreement_of(steps) >=
           (steps->split ? HF__AGREED_MAJORITY : HF__AGREED_SOME);
}

/* false: the store cannot. */
static bool track_key(const hf__steps *steps, bool held)
{
    const hf_lock *lock = steps->lock;
    hf__store *store = lock->client->store;

    if (store->ops->event_key == NULL)
        return false;
    store->ops->event_key(store, lock->keys.main, held);
    return true;
}

/* Tracking notifies once, so it is set again for each new holder and after each
 * event. */
void hf__steps_watch_holder(const hf__steps *steps, hf_status status, int round)
{
    if (status == HF_HELD && steps->foreign &&
        (round <= 0 || steps->refusals == 0))
        (void)track_key(steps, true);
}

void hf__steps_leave(hf__steps *steps)
{
    steps->left_ms = hf__clock_boot_ms();
    (void)track_key(steps, false);
}

/* If the key exists, tracking it again brings the next event at once. A known
 * library comes back by itself: while it is behind, gaps that end early give
 * both sides more turns. */
bool hf__steps_leave_longer(hf__steps *steps)
{
    int64_t before_ms = steps->looked_ms;

    steps->looked_ms = hf__clock_boot_ms();
    return steps->looked_ms - before_ms >= LOOK_AGAIN_MS &&
           !hf__turns_is_shared(turns_of(steps), steps->lock->hash) &&
           track_key(steps, false);
}

void hf__steps_left(hf__steps *steps, bool by_event)
{
    if (steps->left_ms != 0)
        hf__turns_note_gap(turns_of(steps), steps->lock->hash,
                           hf__clock_boot_ms() - steps->left_ms, by_event);
    steps->left_ms = 0;
}

int64_t hf__steps_yield(const hf__steps *steps)
{
    const hf_lock *lock = steps->lock;

    return lock->kind->redisson == NULL
               ? 0
               : hf__yield_left(hf__yield_of(lock->client, lock->keys.main));
}

int64_t hf__steps_rest(const hf__steps *steps)
{
    int64_t rest_ms = atomic_load(&steps->lock->rest_ms) - hf__clock_boot_ms();

    return hf__at_least(rest_ms, steps->pass.rest_ms);
}

static int64_t gather_pause(hf__steps *steps)
{
    int64_t now_ms = hf__clock_boot_ms();

    if (agreement_of(steps) == HF__AGREED_MAJORITY)
        return 0;
    if (steps->gather_ms == 0)
        steps->gather_ms = now_ms + GATHER_MS;
    return hf__at_least(steps->gather_ms - now_ms, 0);
}

/* Left to other libraries for so long: by a release of ours, or after one of
 * theirs. */
static int64_t others_pause(const hf__steps *steps)
{
    if (steps->gap_ms > 0)
        return steps->gap_ms;
    if (!steps->foreign || steps->turn ||
        steps->lock->options.gaps == HF_LOCK_GAPS_NEVER)
        return 0;
    return hf__turns_delay(turns_of(steps), steps->lock->hash);
}

int64_t hf__steps_event_delay(hf__steps *steps)
{
    int64_t others_ms = others_pause(steps);

    if (others_ms > 0) {
        hf__steps_leave(steps);
        return others_ms;
    }
    if (hf__wait_queue_outranked(&steps->lock->client->leases->queues,
                                 steps->lock))
        return hf__rand_between(OUTRANKED_MS, 2 * OUTRANKED_MS);
    if (store_undoes(steps))
        return gather_pause(steps);
    return hf__steps_yield(steps);
}

static int64_t split_pause(const hf__steps *steps, int64_t now_ms)
{
    int doublings = steps->splits < 6 ? steps->splits - 1 : 5;
    int64_t base_ms =
        hf__at_least(2 * (now_ms - steps->grant.sent_ms), SPLIT_MIN_MS);

    base_ms = hf__at_most(base_ms << doublings, SPLIT_MAX_MS);
    return hf__rand_between(base_ms / 2, base_ms + base_ms / 2);
}

static int64_t foreign_pause(const hf__steps *steps)
{
    int doublings = steps->refusals < 8 ? steps->refusals : 8;
    int64_t low_ms =
        hf__at_most((int64_t)FOREIGN_FIRST_MS << doublings, FOREIGN_LAST_MS);

    return hf__rand_between(low_ms, 2 * low_ms) * (1 + steps->position);
}

/* The jitter spreads waiters that began together. */
static int64_t poll_pause(const hf__steps *steps, int round)
{
    int64_t pause_ms = hf__at_most(
        (int64_t)POLL_FIRST_MS << (round < 3 ? round : 3), POLL_LAST_MS);

    if (steps->position > 0) {
        pause_ms =
            hf__at_most(pause_ms + steps->position * POLL_RANK_MS, POLL_MAX_MS);
        pause_ms -= hf__rand_between(0, pause_ms / 2);
    }
    /* The head may be given the lease and be dead: the next notices. */
    if (steps->position == 1)
        pause_ms = hf__at_most(pause_ms, POLL_FIRST_MS);
    if (steps->foreign)
        pause_ms = hf__at_most(pause_ms, foreign_pause(steps));
    if (steps->pttl_ms < 0)
        return pause_ms;
    return hf__at_most(pause_ms, steps->pttl_ms + 1 +
                                     hf__rand_between(0, JITTER_MS) +
                                     steps->position * LEASE_END_RANK_MS);
}

int64_t hf__steps_next_try(const hf__steps *steps, hf_status status, int round)
{
    int64_t now = hf__clock_boot_ms();
    int64_t pause_ms;

    if (status == HF_HELD && steps->split) {
        pause_ms = split_pause(steps, now);
    } else if (status == HF_HELD) {
        pause_ms = poll_pause(steps, round);
    } else {
        pause_ms = hf__at_most(
            (int64_t)RETRY_FIRST_MS << (round < 4 ? round : 4), RETRY_LAST_MS);
        pause_ms += hf__rand_between(0, pause_ms / 2);
    }
    return hf__at_most(steps->until_ms, hf__clock_after(now, pause_ms));
}

/* --------------------------------------------------------------- giving up */

void hf__steps_fill_leave(hf__steps *steps)
{
    hf__lock_release_fill(steps->lock, &steps->request, steps->words,
                          steps->grant.owner);
    if (steps->lock->kind->redisson != NULL)
        return;
    steps->words[HF__LOCK_RELEASE_LEAVE] = hf_str(steps->entry);
    steps->request.word_count = HF__LOCK_RELEASE_LEAVE + 1;
}

static void undo_acquire(const hf__steps *steps)
{
    hf__lock_undo(steps->lock, steps->grant.owner);
}

static hf_status outcome_of(const hf__steps *steps, hf_status status,
                            const hf_error *detail, hf_error *err)
{
    if (steps->unresolved && status != HF_INDETERMINATE)
        return hf__fail(err, HF_INDETERMINATE, "a try got no reply; then: %s",
                        detail->message);
    if (status == HF_HELD && steps->wait_ms > 0)
        return hf__fail(err, HF_TIMEOUT, "timed out after %lld ms: %s",
                        (long long)steps->wait_ms, steps->lock->kind->refused);
    hf__fail_copy(err, detail);
    if (status == HF_HELD)
        return hf__fail_as(err, HF_TIMEOUT);
    if (status == HF_WRONG_TYPE)
        hf__wrong_type_name(&steps->request, err);
    return status;
}

hf_status hf__steps_end(hf__steps *steps, hf_status status,
                        const hf_error *detail, hf_error *err)
{
    hf__free(steps->entry);
    steps->entry = NULL;
    if (steps->lock->kind->redisson != NULL)
        hf__redisson_unlisten(steps->lock, steps->grant.owner);
    if (status == HF_OK)
        return HF_OK;
    if (steps->unanswered)
        undo_acquire(steps);
    return outcome_of(steps, status, detail, err);
}
