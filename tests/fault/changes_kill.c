/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes_kill.c - programs that write values by revision, and programs that
 * follow the changes, are killed at any instant: no follower misses one.
 *
 *     changes_kill [--kills N] [--store volatile|file|server] [--cheat]
 *
 * A follower notes in shared memory the changes that a call returned, and then
 * the revision to continue from, with which its successor begins. Then:
 *
 * 1. changes have rising revisions, later than the one that was asked for;
 * 2. there is no gap: fewer values are written than are kept;
 * 3. when the writers have ended, each follower learns, without another write,
 *    of the last change of each value that was acknowledged.
 *
 * With --cheat followers forget one change of fifty, which must be noticed.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/value.h"
#include "support/prng.h"
#include "support/test_clock.h"

#define WRITERS 3
#define FOLLOWERS 3
#define KEYS 400
#define PATTERN "followed:*"

/* For a program to start, and for followers to catch up, on a busy machine. */
#define LIMIT_MS 60000

typedef struct follower {
    _Atomic uint64_t after;
    _Atomic uint64_t seen[KEYS]; /* the latest revision */
} follower;

static struct shared {
    follower followers[FOLLOWERS];
    _Atomic uint64_t written[KEYS]; /* the latest that was acknowledged */
    atomic_long steps[WRITERS + FOLLOWERS]; /* since it was started */
    atomic_long writes, found;
    char failure[256];
} * shared;

static pid_t pids[WRITERS + FOLLOWERS];
static const char *url;
static bool cheats;

static void fail(const char *what, const char *more)
{
    if (shared->failure[0] == '\0')
        snprintf(shared->failure, sizeof(shared->failure), "%s %s", what, more);
}

static void raise_to(_Atomic uint64_t *to, uint64_t revision)
{
    uint64_t before = atomic_load(to);

    while (before < revision &&
           !atomic_compare_exchange_weak(to, &before, revision))
        continue;
}

/* ------------------------------------------------------------------ writers */

static hf_status write_one(hf_client *client, prng *random, hf_error *err)
{
    uint64_t index = prng_below(random, KEYS);
    uint64_t revision = 0;
    hf_status status;
    char key[32];

    snprintf(key, sizeof(key), "followed:%d", (int)index);
    if (prng_chance(random, 20))
        status = hf_value_delete_revised(client, hf_str(key), HF_REVISION_ANY,
                                         &revision, err);
    else
        status = hf_value_put_revised(client, hf_str(key), hf_str("value"),
                                      HF_REVISION_ANY, NULL, &revision, err);
    if (status == HF_OK) {
        raise_to(&shared->written[index], revision);
        atomic_fetch_add(&shared->writes, 1);
    }
    return status == HF_NOT_FOUND ? HF_OK : status;
}

static void write_values(size_t self, hf_client *client, hf_error *err)
{
    prng random = prng_of((uint64_t)test_now_ms(), (uint64_t)getpid(), 0);

    while (write_one(client, &random, err) == HF_OK) {
        atomic_fetch_add(&shared->steps[self], 1);
        (void)usleep((useconds_t)prng_below(&random, 1000));
    }
}

/* ---------------------------------------------------------------- followers */

static void note_changes(follower *self, const hf_value_changes *changes,
                         prng *random)
{
    uint64_t last = atomic_load(&self->after);

    if (changes->gap && last != 0)
        fail("a gap", "");
    for (size_t i = 0; i < changes->count; i++) {
        const hf_value_change *one = &changes->items[i];
        const char *number = strchr(one->key.data, ':');
        long index = number == NULL ? -1 : strtol(number + 1, NULL, 10);

        if (one->revision <= last || index < 0 || index >= KEYS) {
            fail("out of order, or unknown:", one->key.data);
            return;
        }
        last = one->revision;
        if (cheats && prng_chance(random, 2))
            continue;
        raise_to(&self->seen[index], one->revision);
        atomic_fetch_add(&shared->found, 1);
    }
    if (changes->revision < last)
        fail("it would continue before the last change", "");
    atomic_store(&self->after, changes->revision);
}

static void follow(size_t self, hf_client *client, hf_error *err)
{
    follower *at = &shared->followers[self - WRITERS];
    prng random = prng_of((uint64_t)test_now_ms(), (uint64_t)getpid(), 1);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    while (hf_value_changes_after(client, hf_str(PATTERN),
                                  atomic_load(&at->after), HF_FOREVER, &changes,
                                  err) == HF_OK) {
        note_changes(at, &changes, &random);
        hf_value_changes_free(&changes);
        atomic_fetch_add(&shared->steps[self], 1);
    }
}

/* -------------------------------------------------------------------- kills */

static _Noreturn void work(size_t self)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (hf_client_open(url, NULL, &client, &err) == HF_OK) {
        if (self < WRITERS)
            write_values(self, client, &err);
        else
            follow(self, client, &err);
    }
    fail("a call:", err.message);
    _exit(1);
}

static bool start(size_t i)
{
    atomic_store(&shared->steps[i], 0);
    pids[i] = fork();
    if (pids[i] == 0)
        work(i);
    return pids[i] > 0;
}

static bool await_steps(size_t i)
{
    int64_t limit_ms = test_now_ms() + LIMIT_MS;

    while (atomic_load(&shared->steps[i]) == 0) {
        if (test_now_ms() > limit_ms)
            fail("no progress", "");
        if (shared->failure[0] != '\0')
            return false;
        (void)usleep(500);
    }
    return true;
}

static bool kill_some(long kills)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    for (long i = 0; i < kills; i++) {
        size_t victim = prng_below(&random, WRITERS + FOLLOWERS);

        if (!await_steps(victim))
            return false;
        (void)usleep((useconds_t)prng_below(&random, 5000));
        kill_child(pids[victim]);
        if (!start(victim))
            return false;
    }
    return true;
}

static long count_missed(void)
{
    long missed = 0;

    for (size_t i = 0; i < FOLLOWERS; i++)
        for (size_t key = 0; key < KEYS; key++)
            missed += atomic_load(&shared->followers[i].seen[key]) <
                      atomic_load(&shared->written[key]);
    return missed;
}

/* With the cheat there is no need to wait. */
static bool caught_up(void)
{
    int64_t limit_ms = test_now_ms() + (cheats ? 2000 : LIMIT_MS);
    long missed;

    while ((missed = count_missed()) > 0 && test_now_ms() < limit_ms &&
           shared->failure[0] == '\0')
        (void)usleep(5000);
    printf("%ld writes, %ld changes found by %d followers, %ld missed\n",
           atomic_load(&shared->writes), atomic_load(&shared->found), FOLLOWERS,
           missed);
    return missed == 0;
}

static bool run(const char *store_url, long kills)
{
    bool fine = true;

    url = store_url;
    for (size_t i = 0; i < WRITERS + FOLLOWERS; i++)
        fine = start(i) && fine;
    fine = fine && kill_some(kills);
    for (size_t i = 0; i < WRITERS; i++)
        kill_child(pids[i]);
    fine = caught_up() && fine;
    for (size_t i = WRITERS; i < WRITERS + FOLLOWERS; i++)
        kill_child(pids[i]);
    if (fine && shared->failure[0] == '\0')
        return true;
    printf("violation: changes were missed. %s\n", shared->failure);
    return false;
}

int main(int argc, char **argv)
{
    kill_options opts = kill_options_of(argc, argv, 100);

    cheats = opts.cheats;
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    shared = share_memory(sizeof(*shared));
    return place_run(opts.store, run, opts.kills) ? 0 : 1;
}
