/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_steps.c - wall clocks that are set while something is held or stored:
 * that of a client does not matter, nor that of the machine of an embedded
 * store; that of a server moves the end of leases, until the next renewal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_place.h"
#include "holdfast/cache.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/limiter.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/expect.h"
#include "support/redis_server.h"
#include "support/test.h"
#include "support/wall_clock.h"

#define HOUR_MS (INT64_C(3600) * 1000)
#define NAME "clocked"
/* Of a lease: the client judges an entry of a cache by an estimate. */
#define EARLY_MS 50

static const char *const schemes[] = {"volatile", "file"};
static wall_clock *ours;

static hf_lock *lock_of(hf_client *client, int64_t ttl_ms)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;

    options.ttl_ms = ttl_ms;
    expect_status(HF_OK,
                  hf_lock_new(client, hf_str(NAME), &options, &lock, ERR));
    return lock;
}

static int64_t remaining_ms(hf_client *client)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    if (hf_lock_inspect(client, hf_str(NAME), &info, NULL) != HF_OK)
        return 0;
    return info.remaining_ms;
}

static hf_client *open_at(const char *url)
{
    hf_client *client;

    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    return client;
}

/* Two handles of one store, both renewed. */
static void exclude_while_the_clock_steps(hf_client *client)
{
    int64_t ttl_ms = slowed_ms(500);
    hf_lock *lock = lock_of(client, ttl_ms);
    hf_lock *other = lock_of(client, ttl_ms);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    for (int i = 0; i < 4; i++) {
        wall_clock_step(ours, i % 2 == 0 ? 24 * HOUR_MS : -48 * HOUR_MS);
        expect_throughout(hf_lock_is_held(lock), ttl_ms * 3 / 4);
        expect_status(HF_HELD, hf_lock_try(other, ERR));
        assert_in_range(remaining_ms(client), 1, ttl_ms);
    }
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(lock);
    hf_lock_free(other);
}

TEST(wall_clock_of_a_client_does_not_matter)
{
    redis_server *server = redis_server_start(NULL);
    hf_client *client;

    assert_non_null(server);
    ours = wall_clock_new();
    wall_clock_keep(ours);
    client = open_at(redis_server_unix_url(server));
    exclude_while_the_clock_steps(client);
    hf_client_close(client);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
    redis_server_stop(server);
}

TEST(wall_clock_of_an_embedded_store_does_not_matter)
{
    place at;

    ours = wall_clock_new();
    wall_clock_keep(ours);
    for (size_t i = 0; i < 2; i++) {
        place_make(&at, schemes[i], "?max_size=4M");
        place_open(&at);
        exclude_while_the_clock_steps(at.client);
        place_remove(&at);
    }
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

/* ------------------------------------------------------------- every kind */

static int64_t life_ms; /* of each thing */

typedef hf_status new_handle(hf_client *client, hf_bytes name,
                             const hf_lock_options *options, hf_lock **lock,
                             hf_error *err);

/* What ends by itself `life_ms` after a process made it that then died. */
typedef struct thing {
    const char *name;
    new_handle *holder; /* a lease, */
    new_handle *other;  /* and a handle that it excludes; NULL: see below */
    hf_status (*put)(hf_client *client, hf_bytes name);
    hf_status (*get)(hf_client *client, hf_bytes name);
} thing;

static hf_status new_reader(hf_client *client, hf_bytes name,
                            const hf_lock_options *options, hf_lock **lock,
                            hf_error *err)
{
    return hf_rwlock_new(client, name, 0, options, lock, NULL, err);
}

static hf_status new_writer(hf_client *client, hf_bytes name,
                            const hf_lock_options *options, hf_lock **lock,
                            hf_error *err)
{
    hf_lock *read;
    hf_status status =
        hf_rwlock_new(client, name, 0, options, &read, lock, err);

    if (status == HF_OK)
        hf_lock_free(read);
    return status;
}

static hf_status new_permit(hf_client *client, hf_bytes name,
                            const hf_lock_options *options, hf_lock **lock,
                            hf_error *err)
{
    return hf_semaphore_new(client, name, 1, options, lock, err);
}

static hf_status new_candidate(hf_client *client, hf_bytes name,
                               const hf_lock_options *options, hf_lock **lock,
                               hf_error *err)
{
    return hf_election_new(client, name, hf_str("me"), options, lock, err);
}

static hf_status take(hf_client *client, hf_bytes name)
{
    hf_limiter_options options = HF_LIMITER_OPTIONS_INIT;

    options.count = 1;
    options.period_ms = life_ms;
    return hf_limiter_take(client, name, 1, &options, NULL, NULL);
}

/* There: what was taken has not been gained again. */
static hf_status find_taken(hf_client *client, hf_bytes name)
{
    hf_status status = take(client, name);

    return status == HF_TIMEOUT ? HF_OK : HF_NOT_FOUND;
}

static hf_status put_item(hf_client *client, hf_bytes name)
{
    return hf_timeline_add(client, name, name, name, life_ms, NULL, NULL);
}

static hf_status get_item(hf_client *client, hf_bytes name)
{
    hf_timeline_items items = HF_TIMELINE_ITEMS_INIT;
    hf_status status = hf_timeline_get(client, name, name, &items, NULL);

    hf_timeline_items_free(&items);
    return status;
}

static hf_status set_value(hf_client *client, hf_bytes name)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;

    options.ttl_ms = life_ms;
    return hf_value_set(client, name, name, &options, NULL, NULL);
}

static hf_status get_value(hf_client *client, hf_bytes name)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_value_get(client, name, &value, NULL);

    hf_buffer_free(&value);
    return status;
}

static hf_status put_field(hf_client *client, hf_bytes name)
{
    hf_hash_put_options options = HF_HASH_PUT_OPTIONS_INIT;
    hf_field field = {name, name};

    options.field_ttl_ms = life_ms;
    return hf_hash_put(client, name, &field, 1, &options, NULL);
}

static hf_status get_field(hf_client *client, hf_bytes name)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_hash_get(client, name, name, &value, NULL);

    hf_buffer_free(&value);
    return status;
}

/* Its key lives on: stale. */
static hf_status put_entry(hf_client *client, hf_bytes name)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = life_ms;
    options.stale_ms = 2 * HOUR_MS;
    return hf_cache_put(client, name, name, &options, NULL);
}

static hf_status get_entry(hf_client *client, hf_bytes name)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_cache_get(client, name, NULL, &value, NULL);

    hf_buffer_free(&value);
    return status;
}

static const thing things[] = {
    {"lock", hf_lock_new, hf_lock_new, NULL, NULL},
    {"reader", new_reader, new_writer, NULL, NULL},
    {"writer", new_writer, new_reader, NULL, NULL},
    {"permit", new_permit, new_permit, NULL, NULL},
    {"leader", new_candidate, new_candidate, NULL, NULL},
    {"limiter", NULL, NULL, take, find_taken},
    {"item", NULL, NULL, put_item, get_item},
    {"value", NULL, NULL, set_value, get_value},
    {"field", NULL, NULL, put_field, get_field},
    {"entry", NULL, NULL, put_entry, get_entry},
};
#define THING_COUNT (sizeof(things) / sizeof(things[0]))

static hf_status make(const thing *it, hf_client *client)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;
    hf_status status;

    if (it->put != NULL)
        return it->put(client, hf_str(it->name));
    options.ttl_ms = life_ms;
    options.flags = HF_LOCK_NO_RENEW;
    status = it->holder(client, hf_str(it->name), &options, &lock, NULL);
    return status == HF_OK ? hf_lock_try(lock, NULL) : status;
}

static bool is_there(const thing *it, hf_client *client)
{
    hf_lock *lock;
    hf_status status;

    if (it->get != NULL)
        return it->get(client, hf_str(it->name)) == HF_OK;
    expect_status(HF_OK, it->other(client, hf_str(it->name), NULL, &lock, ERR));
    status = hf_lock_try(lock, NULL);
    hf_lock_free(lock);
    return status == HF_HELD;
}

/* In a child, which ends without closing anything. */
static int make_all(const place *at)
{
    hf_client *client;

    if (hf_client_open(at->url, NULL, &client, NULL) != HF_OK)
        return 1;
    for (size_t i = 0; i < THING_COUNT; i++) {
        if (make(&things[i], client) != HF_OK)
            return 2;
    }
    return 0;
}

/* In a child that opens the store after the step: how many are not there. */
static int count_missing(const place *at)
{
    hf_client *client = open_at(at->url);
    int missing = 0;

    for (size_t i = 0; i < THING_COUNT; i++)
        missing += is_there(&things[i], client) ? 0 : 1;
    return missing;
}

/* How many did not end when they should. */
static int watch_the_end(const place *at, int64_t began_ms, const char *what)
{
    int64_t limit_ms = 2 * life_ms + slowed_ms(1000);
    int64_t ended_ms[THING_COUNT] = {0}, now_ms = 0;
    size_t ended = 0;
    int faults = 0;

    while (ended < THING_COUNT && now_ms < limit_ms) {
        for (size_t i = 0; i < THING_COUNT; i++) {
            if (ended_ms[i] != 0 || is_there(&things[i], at->client))
                continue;
            ended_ms[i] = test_now_ms() - began_ms;
            ended++;
        }
        test_rest();
        now_ms = test_now_ms() - began_ms;
    }
    for (size_t i = 0; i < THING_COUNT; i++) {
        if (ended_ms[i] >= life_ms - EARLY_MS)
            continue;
        print_error("%s: %s of %lld ms %s %lld ms\n", what, things[i].name,
                    (long long)life_ms,
                    ended_ms[i] == 0 ? "is there after" : "has ended after",
                    (long long)(ended_ms[i] == 0 ? now_ms : ended_ms[i]));
        faults++;
    }
    return faults;
}

static int count_faults(const char *scheme, int64_t step_ms)
{
    char what[64];
    int64_t began_ms;
    int missing, faults;
    place at;

    (void)snprintf(what, sizeof(what), "%s, %+d h", scheme,
                   (int)(step_ms / HOUR_MS));
    ours = wall_clock_new();
    wall_clock_keep(ours);
    place_make(&at, scheme, "?max_size=4M");
    place_open(&at);
    began_ms = test_now_ms();
    assert_int_equal(in_child(make_all, &at), 0);
    wall_clock_step(ours, step_ms);
    missing = in_child(count_missing, &at);
    if (missing != 0)
        print_error("%s: %d of %zu are not there for a new process\n", what,
                    missing, THING_COUNT);
    faults = missing + watch_the_end(&at, began_ms, what);
    place_remove(&at);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
    return faults;
}

TEST(each_kind_ends_in_time_although_the_clock_steps)
{
    int faults = 0;

    life_ms = slowed_ms(1500);
    for (size_t i = 0; i < 4; i++)
        faults += count_faults(schemes[i / 2], i % 2 == 0 ? HOUR_MS : -HOUR_MS);
    assert_int_equal(faults, 0);
}

/* ---------------------------------------------------------------- waiters */

static int wait_for_the_lock(const place *at)
{
    hf_client *client = open_at(at->url);
    hf_lock *lock = lock_of(client, 5000);

    if (hf_lock_acquire(lock, slowed_ms(15000), NULL) != HF_OK)
        return 1;
    return hf_lock_release(lock, NULL) == HF_OK ? 0 : 2;
}

static int hold_and_die(const place *at)
{
    hf_client *client = open_at(at->url);

    return hf_lock_try(lock_of(client, life_ms), NULL) == HF_OK ? 0 : 1;
}

static int64_t waiters(hf_client *client)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    expect_status(HF_OK, hf_lock_inspect(client, hf_str(NAME), &info, ERR));
    return info.waiters;
}

static void wait_for_a_killed_holder(const char *scheme)
{
    int64_t began_ms;
    pid_t pids[5];
    place at;
    int status;

    ours = wall_clock_new();
    wall_clock_keep(ours);
    place_make(&at, scheme, "?max_size=4M");
    place_open(&at);
    began_ms = test_now_ms();
    assert_int_equal(in_child(hold_and_die, &at), 0);
    for (size_t i = 0; i < 5; i++)
        pids[i] = start_child(wait_for_the_lock, &at);
    expect_soon(waiters(at.client) == 5, life_ms);
    wall_clock_step(ours, -HOUR_MS);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(await_child(pids[i], &status), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_in_time(test_now_ms() - began_ms, life_ms + 1000);
    place_remove(&at);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

TEST(waiters_wait_for_the_lease_although_the_clock_steps)
{
    life_ms = slowed_ms(1500);
    for (size_t i = 0; i < 2; i++)
        wait_for_a_killed_holder(schemes[i]);
}

/* --------------------------------------------------------------- timelines */

TEST(items_are_in_order_although_the_clock_steps)
{
    hf_timeline_items items = HF_TIMELINE_ITEMS_INIT;
    place at;

    life_ms = HOUR_MS / 2;
    ours = wall_clock_new();
    wall_clock_keep(ours);
    for (size_t i = 0; i < 2; i++) {
        place_make(&at, schemes[i], "?max_size=4M");
        place_open(&at);
        expect_status(HF_OK,
                      hf_timeline_add(at.client, hf_str("t"), hf_str("first"),
                                      hf_str(""), life_ms, NULL, ERR));
        wall_clock_step(ours, -HOUR_MS);
        expect_status(HF_OK,
                      hf_timeline_add(at.client, hf_str("t"), hf_str("second"),
                                      hf_str(""), life_ms, NULL, ERR));
        expect_status(HF_OK, hf_timeline_range(at.client, hf_str("t"), 0, 0, 0,
                                               &items, ERR));
        assert_int_equal(items.count, 2);
        assert_bytes(hf_str("first"), items.items[0].id);
        hf_timeline_items_free(&items);
        place_remove(&at);
    }
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

/* ---------------------------------------------------------------- diagnosis */

typedef struct levels {
    hf_level clock;
    hf_level tokens;
} levels;

static void note_level(void *user, const hf_store_diagnostic *one)
{
    levels *seen = user;

    if (strcmp(one->name, "clock") == 0)
        seen->clock = one->level;
    if (strcmp(one->name, "fencing tokens") == 0)
        seen->tokens = one->level;
}

static levels diagnose(hf_client *client)
{
    levels seen = {HF_LEVEL_ERROR, HF_LEVEL_ERROR};

    expect_status(HF_OK,
                  hf_store_diagnose(client, NULL, note_level, &seen, ERR));
    return seen;
}

/* After a reboot tokens would begin at the system's clock. */
TEST(diagnosis_compares_the_clocks)
{
    levels seen;
    hf_lock *lock;
    place at;

    ours = wall_clock_new();
    wall_clock_keep(ours);
    for (size_t i = 0; i < 2; i++) {
        place_make(&at, schemes[i], "?max_size=4M");
        place_open(&at);
        lock = lock_of(at.client, HOUR_MS);
        expect_status(HF_OK, hf_lock_try(lock, ERR));
        seen = diagnose(at.client);
        assert_int_equal(seen.clock, HF_LEVEL_OK);
        assert_int_equal(seen.tokens, HF_LEVEL_OK);
        wall_clock_step(ours, HOUR_MS);
        seen = diagnose(at.client);
        assert_int_equal(seen.clock, HF_LEVEL_WARNING);
        assert_int_equal(seen.tokens, HF_LEVEL_OK);
        wall_clock_step(ours, -2 * HOUR_MS);
        seen = diagnose(at.client);
        assert_int_equal(seen.clock, HF_LEVEL_WARNING);
        assert_int_equal(seen.tokens, HF_LEVEL_WARNING);
        hf_lock_free(lock);
        place_remove(&at);
    }
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

/* ----------------------------------------------------------------- servers */

/* Forward: the lease ends at once in the store. The holder learns of it by its
 * next renewal; the next holder has a larger token. */
static void step_forward_loses_the_lock(hf_client *client)
{
    int64_t ttl_ms = slowed_ms(600);
    hf_lock *lock = lock_of(client, ttl_ms), *next = lock_of(client, ttl_ms);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    wall_clock_step(ours, HOUR_MS);
    expect_status(HF_OK, hf_lock_try(next, ERR));
    assert_true(hf_lock_token(next) > hf_lock_token(lock));
    expect_soon(!hf_lock_is_held(lock), ttl_ms);
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
    assert_true(hf_lock_is_held(next));
    expect_status(HF_OK, hf_lock_release(next, ERR));
    hf_lock_free(lock);
    hf_lock_free(next);
}

/* Back: the lease is longer by the step, until it is renewed. */
static void step_back_is_mended_by_a_renewal(hf_client *client)
{
    int64_t ttl_ms = slowed_ms(600);
    hf_lock *lock = lock_of(client, ttl_ms);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    wall_clock_step(ours, -HOUR_MS);
    expect_soon(remaining_ms(client) <= ttl_ms, ttl_ms);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(lock);
}

TEST(step_of_a_servers_clock_lasts_until_the_next_renewal)
{
    redis_server *server;
    hf_client *client;

    ours = wall_clock_new();
    wall_clock_give(ours);
    server = redis_server_start(NULL);
    wall_clock_give(NULL);
    assert_non_null(server);
    client = open_at(redis_server_unix_url(server));
    step_forward_loses_the_lock(client);
    step_back_is_mended_by_a_renewal(client);
    hf_client_close(client);
    redis_server_stop(server);
    wall_clock_free(ours);
}
