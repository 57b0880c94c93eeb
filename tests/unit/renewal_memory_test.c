/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renewal_memory_test.c - the watchdog while memory runs out: a renewal that
 * fails neither loses a lock nor ends the renewals of the others.
 */
#include <stdio.h>

#include "embedded_store.h"
#include "holdfast/lock.h"
#include "support/redis_server.h"
#include "support/slowness.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/mem.h"

#define LOCKS 10

static hf_lock *locks[LOCKS];

static hf_client *hold(const char *url, int64_t ttl_ms)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_client *client;
    char name[16];

    options.ttl_ms = ttl_ms;
    assert_int_equal(hf_client_open(url, NULL, &client, NULL), HF_OK);
    for (int i = 0; i < LOCKS; i++) {
        (void)snprintf(name, sizeof(name), "lock-%d", i);
        assert_int_equal(
            hf_lock_new(client, hf_str(name), &options, &locks[i], NULL),
            HF_OK);
        assert_int_equal(hf_lock_try(locks[i], NULL), HF_OK);
    }
    return client;
}

/* Let one allocation of a renewal fail, the first, the second ..., and the next
 * one succeed. Returns how many have failed. */
static int starve(int64_t ttl_ms)
{
    int failed = 0;

    for (long after = 0; after < 4; after++) {
        (void)hf__alloc_fail_after(after);
        hf__clock_sleep_until(hf__clock_boot_ms() + ttl_ms / 3);
        failed += hf__alloc_fail_after(-1) < 0;
        hf__clock_sleep_until(hf__clock_boot_ms() + ttl_ms / 3);
    }
    return failed;
}

static void renewals_survive(const char *url)
{
    int64_t ttl_ms = slowed_ms(1000);
    hf_client *client = hold(url, ttl_ms);

    print_message("%d allocations failed\n", starve(ttl_ms));
    for (int i = 0; i < LOCKS; i++) {
        assert_true(hf_lock_is_held(locks[i]));
        assert_int_equal(hf_lock_release(locks[i], NULL), HF_OK);
        hf_lock_free(locks[i]);
    }
    hf_client_close(client);
}

TEST(renewals_survive_failing_memory_on_an_embedded_store)
{
    place at;

    make_place(&at, "volatile", "");
    renewals_survive(at.url);
    remove_place(&at);
}

TEST(renewals_survive_failing_memory_on_a_server)
{
    redis_server *server = redis_server_start(NULL);

    assert_non_null(server);
    renewals_survive(redis_server_unix_url(server));
    redis_server_stop(server);
}
