/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.c - see turns.h.
 */
#include "lease/turns.h"

#include <limits.h>
#include <string.h>

#include "util/clock.h"
#include "util/hash_bytes.h"
#include "util/order.h"

/* A count that reaches this halves them all: old turns count for less. */
#define COUNT_MAX 64

/* How long a foreign holder is remembered. */
#define MEMORY_MS 8000

/* Time left free for each that it was held; and by how much more one costs that
 * no library takes, each after twice as many turns as the one before. */
#define SPARE 2
#define MISSED_COST 8
#define MISSED_MAX 6

/* Parts of a client in the average, and what a new number weighs in it. */
#define PARTS 16
#define WEIGHT 4
#define CLIENTS_MAX 1024

/* After a foreign release, if there is no time to spare: one that comes back at
 * once, or after 3 ms, is awaited. */
#define SHORT_MS 5

void hf__turns_init(hf__turns_table *table)
{
    memset(table, 0, sizeof(*table));
    pthread_mutex_init(&table->mutex, NULL);
}

void hf__turns_done(hf__turns_table *table)
{
    pthread_mutex_destroy(&table->mutex);
}

/* NULL: no other library uses it. */
static hf__turns *find_locked(hf__turns_table *table, uint64_t lock, bool make)
{
    hf__turns *found = &table->locks[lock % HF__TURNS_LOCKS];
    bool same = found->lock == lock;

    if (!same && make) {
        *found = (hf__turns){.lock = lock, .spare_ms = HF__TURNS_GAP_MS};
        atomic_store(&table->used, true);
    }
    return same || make ? found : NULL;
}

static void count_hold(hf__turns *turns, size_t form)
{
    if (++turns->counts[form] < COUNT_MAX)
        return;
    for (size_t i = 0; i < HF__TURNS_FORMS; i++)
        turns->counts[i] = (unsigned char)hf__at_least(turns->counts[i] / 2,
                                                       turns->counts[i] > 0);
}

/* Who made a UUID of version 1: its clock sequence and node; 0: it is none. */
static uint64_t maker_of(hf_bytes owner)
{
    const char *text = owner.data;

    if (owner.size != 32 || text[12] != '1')
        return 0;
    return hf__hash(hf_view(text + 16, 16), 0) | 1;
}

static void note_user(hf__turns *turns, uint64_t who, unsigned char form)
{
    hf__turns_user *oldest = turns->users;

    for (size_t i = 0; i < HF__TURNS_USERS; i++) {
        hf__turns_user *one = &turns->users[i];

        if (one->who == who && one->form == form) {
            oldest = one;
            break;
        }
        if (one->seen_ms < oldest->seen_ms)
            oldest = one;
    }
    *oldest = (hf__turns_user){who, hf__clock_boot_ms(), form};
}

static unsigned users_of(const hf__turns *turns, size_t form)
{
    int64_t since_ms = hf__clock_boot_ms() - MEMORY_MS;
    unsigned count = 0;

    for (size_t i = 0; i < HF__TURNS_USERS; i++)
        count += turns->users[i].who != 0 && turns->users[i].form == form &&
                 turns->users[i].seen_ms > since_ms;
    return count;
}

/* Do the clients of ours send each other their counts? */
static bool is_counted(const hf__turns *turns)
{
    return turns->shared_ms != 0 && turns->clients > 0 &&
           hf__clock_boot_ms() - turns->shared_ms < MEMORY_MS;
}

/* How often a library should have held it by now. A client without counts from
 * others meets only some of its turns, and the fewer the more clients of ours
 * there are: with all of these as divisor the library would get too little,
 * with none too much. */
static unsigned fair_share(const hf__turns *turns, size_t form)
{
    unsigned users = users_of(turns, form);

    if (users == 0) /* not known */
        return turns->counts[0];
    if (is_counted(turns))
        return turns->counts[0] * users * PARTS / (unsigned)turns->clients;
    return turns->counts[0] * users * 2 / (2 + users_of(turns, 0));
}

/* One more of ours. Of n clients that take turns each has every n-th. */
static void count_own(hf__turns *turns)
{
    int64_t since = turns->turn + 1 - turns->own_turn;
    int64_t parts = hf__at_most(hf__at_least(since, 1), CLIENTS_MAX) * PARTS;

    turns->turn++;
    if (turns->clients == 0 && turns->own_turn != 0)
        turns->clients = parts;
    else if (turns->own_turn != 0)
        turns->clients += (parts - turns->clients) / WEIGHT;
    turns->own_turn = turns->turn;
    count_hold(turns, 0);
}

/* Some other library has held it no more often than ours. */
static bool some_behind(const hf__turns *turns)
{
    for (size_t i = 1; i < HF__TURNS_FORMS; i++) {
        if (turns->counts[i] > 0 && turns->counts[i] <= fair_share(turns, i))
            return true;
    }
    return false;
}

static void gain_share(hf__turns *turns, int64_t held_ms)
{
    turns->spare_ms =
        hf__at_most(turns->spare_ms + SPARE * held_ms, HF__TURNS_GAP_MS);
}

void hf__turns_note_foreign(hf__turns_table *table, uint64_t lock,
                            hf_bytes owner)
{
    uint64_t who = maker_of(owner);
    hf__turns *turns;

    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, true);
    turns->last = (unsigned char)(1 + owner.size % (HF__TURNS_FORMS - 1));
    turns->seen_ms = hf__clock_boot_ms();
    turns->missed = 0;
    count_hold(turns, turns->last);
    if (who != 0)
        note_user(turns, who, turns->last);
    pthread_mutex_unlock(&table->mutex);
}

void hf__turns_note_ours(hf__turns_table *table, uint64_t lock, hf_bytes client)
{
    hf__turns *turns;

    if (!atomic_load(&table->used))
        return;
    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, false);
    if (turns != NULL)
        note_user(turns, hf__hash(client, 0) | 1, 0);
    pthread_mutex_unlock(&table->mutex);
}

static bool seen_lately(const hf__turns *turns)
{
    return turns->seen_ms != 0 &&
           hf__clock_boot_ms() - turns->seen_ms < MEMORY_MS;
}

bool hf__turns_is_shared(hf__turns_table *table, uint64_t lock)
{
    const hf__turns *turns;
    bool shared;

    if (!atomic_load(&table->used))
        return false;
    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, false);
    shared = turns != NULL && seen_lately(turns);
    pthread_mutex_unlock(&table->mutex);
    return shared;
}

int64_t hf__turns_release(hf__turns_table *table, uint64_t lock,
                          int64_t held_ms, bool always)
{
    int64_t gap_ms = 0;
    hf__turns *turns;

    if (!always && !atomic_load(&table->used))
        return 0;
    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, always);
    if (turns != NULL) {
        count_own(turns);
        gain_share(turns, held_ms);
        if (turns->spare_ms > 0 &&
            (always || (some_behind(turns) && seen_lately(turns))))
            gap_ms = HF__TURNS_GAP_MS;
    }
    pthread_mutex_unlock(&table->mutex);
    return gap_ms;
}

bool hf__turns_tell(hf__turns_table *table, uint64_t lock, hf__turns_told *told)
{
    int64_t now_ms;
    hf__turns *turns;
    bool tells;

    if (!atomic_load(&table->used))
        return false;
    now_ms = hf__clock_boot_ms();
    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, false);
    tells = turns != NULL && turns->last != 0 && seen_lately(turns);
    if (tells)
        *told =
            (hf__turns_told){.turn = turns->turn,
                             .ours = turns->counts[0],
                             .theirs = turns->counts[turns->last],
                             .form = turns->last,
                             .spare_ms = hf__at_least(
                                 turns->spare_ms + HF__TURNS_SPARE_LEAST, 0),
                             .missed = turns->missed,
                             .age_ms = now_ms - turns->seen_ms};
    pthread_mutex_unlock(&table->mutex);
    return tells;
}

void hf__turns_learn(hf__turns_table *table, uint64_t lock,
                     const hf__turns_told *told)
{
    int64_t now_ms = hf__clock_boot_ms();
    hf__turns *turns;

    if (told->form < 1 || told->form >= HF__TURNS_FORMS ||
        told->age_ms >= MEMORY_MS)
        return;
    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, true);
    turns->turn = hf__at_least(turns->turn, told->turn);
    turns->counts[0] = (unsigned char)hf__at_most(told->ours, UCHAR_MAX);
    turns->counts[told->form] =
        (unsigned char)hf__at_most(told->theirs, UCHAR_MAX);
    turns->last = (unsigned char)told->form;
    turns->spare_ms =
        hf__at_most(told->spare_ms - HF__TURNS_SPARE_LEAST, HF__TURNS_GAP_MS);
    turns->missed = (unsigned char)hf__at_most(told->missed, MISSED_MAX);
    turns->seen_ms = hf__at_least(turns->seen_ms, now_ms - told->age_ms);
    turns->shared_ms = now_ms;
    pthread_mutex_unlock(&table->mutex);
}

int64_t hf__turns_delay(hf__turns_table *table, uint64_t lock)
{
    int64_t delay_ms = 0;
    hf__turns *turns;

    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, false);
    if (turns != NULL) {
        gain_share(turns, hf__clock_boot_ms() - turns->seen_ms);
        if (turns->counts[turns->last] <= fair_share(turns, turns->last))
            delay_ms = turns->spare_ms > 0 ? HF__TURNS_GAP_MS : SHORT_MS;
    }
    pthread_mutex_unlock(&table->mutex);
    return delay_ms;
}

/* They had their turn, and more the longer they do not take it. */
static void miss_turn(hf__turns *turns)
{
    if (turns->missed < MISSED_MAX)
        turns->missed++;
    for (size_t i = 1; i < HF__TURNS_FORMS; i++) {
        unsigned due = fair_share(turns, i);

        if (turns->counts[i] > 0 && turns->counts[i] <= due)
            turns->counts[i] = (unsigned char)hf__at_most(
                due + (1u << turns->missed), UCHAR_MAX);
    }
}

void hf__turns_note_gap(hf__turns_table *table, uint64_t lock, int64_t ms,
                        bool taken)
{
    hf__turns *turns;

    pthread_mutex_lock(&table->mutex);
    turns = find_locked(table, lock, false);
    if (turns != NULL) {
        turns->spare_ms -= taken ? ms : MISSED_COST * ms;
        if (!taken && ms >= HF__TURNS_GAP_MS)
            miss_turn(turns);
    }
    pthread_mutex_unlock(&table->mutex);
}
