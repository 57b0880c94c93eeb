/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_steps.c - wall clocks that are set while a lock is held: that of a
 * client does not matter; that of a store moves the end of leases where it
 * counts in wall time (servers, file:), until the next renewal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_place.h"
#include "support/expect.h"
#include "support/redis_server.h"
#include "support/wall_clock.h"

#define HOUR_MS (INT64_C(3600) * 1000)
#define NAME "clocked"

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

static void wall_clock_of_a_client_does_not_matter(void **state)
{
    redis_server *server = redis_server_start(NULL);
    hf_client *client;

    (void)state;
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

static void wall_clock_of_a_volatile_store_does_not_matter(void **state)
{
    place at;

    (void)state;
    ours = wall_clock_new();
    wall_clock_keep(ours);
    place_make(&at, "volatile", "?max_size=4M");
    place_open(&at);
    exclude_while_the_clock_steps(at.client);
    place_remove(&at);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

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

static void step_of_a_servers_clock_lasts_until_the_next_renewal(void **state)
{
    redis_server *server;
    hf_client *client;

    (void)state;
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

static void
step_of_the_clock_of_a_file_lasts_until_the_next_renewal(void **state)
{
    place at;

    (void)state;
    ours = wall_clock_new();
    wall_clock_keep(ours);
    place_make(&at, "file", "?max_size=4M");
    place_open(&at);
    step_forward_loses_the_lock(at.client);
    step_back_is_mended_by_a_renewal(at.client);
    place_remove(&at);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wall_clock_of_a_client_does_not_matter),
        cmocka_unit_test(wall_clock_of_a_volatile_store_does_not_matter),
        cmocka_unit_test(step_of_a_servers_clock_lasts_until_the_next_renewal),
        cmocka_unit_test(
            step_of_the_clock_of_a_file_lasts_until_the_next_renewal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
