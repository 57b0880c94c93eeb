/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas_test.c - waiting for replicas, on stores that have too few of them,
 * enough, or none. No store here has more than HF_REPLICAS_MAX - 1. Replicas
 * that hang are in tests/fault/replicas.c.
 */
#include "support/byte_proxy.h"
#include "support/store_fixture.h"
#include "support/told.h"

#include <stdio.h>
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"

FIXTURE_TESTS();

#define TOO_MANY HF_REPLICAS_MAX
#define SHORT_MS 50

/* Is it a store on servers where we may use WAIT? */
static bool can_wait(const fixture *f)
{
    return (f->server != NULL || f->cluster != NULL) &&
           f->rights == FIXTURE_RIGHTS_ALL;
}

static hf_client_options asking(int32_t replicas, int64_t replicas_ms)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;

    opts.replicas = replicas;
    opts.replicas_ms = replicas_ms;
    return opts;
}

static hf_lock_options lock_asking(int32_t replicas, int64_t replicas_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.replicas = replicas;
    opts.replicas_ms = replicas_ms;
    return opts;
}

static hf_status open_with(const char *url, const hf_client_options *opts)
{
    hf_client *client = NULL;
    hf_status status = hf_client_open(url, opts, &client, ERR);

    hf_client_close(client);
    return status;
}

/* The store's URL with another parameter. */
static void url_with(const fixture *f, const char *param, char *url,
                     size_t size)
{
    assert_in_range(snprintf(url, size, "%s%c%s", f->url,
                             strchr(f->url, '?') != NULL ? '&' : '?', param),
                    1, size - 1);
}

/* ------------------------------------------------------------------ options */

TEST(only_servers_have_replicas)
{
    fixture *f = *state;
    char url[2 * FIXTURE_PATH_SIZE];
    hf_client_options opts = asking(1, 0);
    hf_lock_options lock_opts = lock_asking(1, 0);
    hf_lock *lock = NULL;
    hf_status want = can_wait(f) ? HF_OK : HF_UNSUPPORTED;

    if (f->rights != FIXTURE_RIGHTS_ALL)
        return;
    expect_status(want, open_with(f->url, &opts));
    if (want != HF_OK)
        assert_non_null(strstr(expect_message(), "replicas"));
    url_with(f, "replicas=1", url, sizeof(url));
    expect_status(want, open_with(url, NULL));
    expect_status(want, hf_lock_new(f->client, fixture_key(f, "l"), &lock_opts,
                                    &lock, ERR));
    hf_lock_free(lock);
}

TEST(user_without_the_right_is_denied)
{
    fixture *f = *state;
    hf_client_options opts = asking(1, 0);
    hf_lock_options lock_opts = lock_asking(1, 0);
    hf_lock *lock;

    if (f->rights != FIXTURE_RIGHTS_LEAST)
        return;
    expect_status(HF_DENIED, open_with(f->url, &opts));
    assert_non_null(strstr(expect_message(), "WAIT"));
    lock = fixture_lock(f, f->client, fixture_key(f, "l"), &lock_opts);
    expect_status(HF_DENIED, hf_lock_try(lock, ERR));
    assert_non_null(strstr(expect_message(), "WAIT"));
    lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(zero_replicas_are_always_possible)
{
    fixture *f = *state;
    hf_client_options opts = asking(HF_REPLICAS_NONE, 100);
    hf_lock_options lock_opts = lock_asking(HF_REPLICAS_NONE, 100);
    hf_client *client = fixture_client(f, &opts);
    hf_lock *lock = fixture_lock(f, client, fixture_key(f, "l"), &lock_opts);

    assert_int_equal(hf_lock_replicas(lock), -1);
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    assert_int_equal(hf_lock_replicas(lock), -1);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(options_out_of_range_are_invalid)
{
    static const struct {
        int32_t replicas;
        int64_t replicas_ms;
    } wrong[] = {{-2, 0}, {HF_REPLICAS_MAX + 1, 0}, {0, -1}, {0, 3600001}};
    fixture *f = *state;
    hf_lock *lock = NULL;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        hf_client_options opts =
            asking(wrong[i].replicas, wrong[i].replicas_ms);
        hf_lock_options lock_opts =
            lock_asking(wrong[i].replicas, wrong[i].replicas_ms);

        expect_status(HF_INVALID, open_with(f->url, &opts));
        assert_non_null(strstr(expect_message(), "replicas"));
        expect_status(HF_INVALID, hf_lock_new(f->client, fixture_key(f, "l"),
                                              &lock_opts, &lock, ERR));
        assert_non_null(strstr(expect_message(), "replicas"));
    }
}

TEST(url_out_of_range_is_invalid)
{
    static const char *const wrong[] = {"replicas=x", "replicas=-1",
                                        "replicas=17", "replicas_ms=0",
                                        "replicas=1&replicas=2"};
    fixture *f = *state;
    char url[2 * FIXTURE_PATH_SIZE];

    if (f->store == FIXTURE_QUORUM)
        return; /* it has no parameters */
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        url_with(f, wrong[i], url, sizeof(url));
        expect_status(HF_INVALID, open_with(url, NULL));
        assert_non_null(strstr(expect_message(), "replicas"));
    }
    url_with(f, "replicas=0&replicas_ms=1", url, sizeof(url));
    expect_status(HF_OK, open_with(url, NULL));
}

/* The options override the URL, and the lock's override both. */
TEST(narrower_option_overrides)
{
    fixture *f = *state;
    char url[2 * FIXTURE_PATH_SIZE];
    hf_client_options opts = asking(HF_REPLICAS_NONE, 0);
    hf_lock_options lock_opts = lock_asking(TOO_MANY, 0);
    hf_client *client = NULL;
    hf_lock *lock = NULL;

    if (!can_wait(f))
        return;
    url_with(f, "replicas=16&replicas_ms=50", url, sizeof(url));
    expect_status(HF_OK, hf_client_open(url, &opts, &client, ERR));
    expect_status(HF_OK, hf_value_set(client, fixture_key(f, "v"), bytes("1"),
                                      NULL, NULL, ERR));
    expect_status(HF_OK, hf_lock_new(client, fixture_key(f, "l"), &lock_opts,
                                     &lock, ERR));
    expect_status(HF_UNAVAILABLE, hf_lock_try(lock, ERR));
    assert_non_null(strstr(expect_message(), "within 50 ms"));
    hf_lock_free(lock);
    hf_client_close(client);
}

/* -------------------------------------------------------------------- locks */

TEST(lock_without_enough_replicas_is_given_back)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = lock_asking(TOO_MANY, SHORT_MS);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock *lock, *rival;

    if (!can_wait(f))
        return;
    lock = fixture_lock(f, f->client, name, &opts);
    rival = fixture_lock(f, f->other, name, NULL);
    expect_status(HF_UNAVAILABLE, hf_lock_try(lock, ERR));
    assert_non_null(strstr(expect_message(), "of 16 replicas"));
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->other, name, &info, ERR));
    expect_told(HF_UNAVAILABLE, f->client,
                hf_lock_acquire_start(lock, 0, &async, ERR));
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->other, name, &info, ERR));
    expect_told(HF_UNAVAILABLE, f->client,
                hf_lock_acquire_start(lock, 300, &async, ERR));
    expect_status(HF_UNAVAILABLE, hf_lock_acquire(lock, 300, ERR));
    expect_status(HF_NOT_FOUND, hf_lock_inspect(f->other, name, &info, ERR));
    expect_taken(rival);
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 100, ERR));
    expect_status(HF_OK, hf_lock_release(rival, ERR));
}

TEST(lock_with_enough_replicas_is_held)
{
    fixture *f = *state;
    hf_lock_options opts = lock_asking(2, 5000);
    hf_lock *locks[2];
    hf_status statuses[2];

    if (f->sentinel == NULL || !can_wait(f))
        return; /* the others have none */
    locks[0] = fixture_lock(f, f->client, fixture_key(f, "a"), &opts);
    locks[1] = fixture_lock(f, f->client, fixture_key(f, "b"), &opts);
    expect_taken(locks[0]);
    assert_int_equal(hf_lock_replicas(locks[0]), 2);
    expect_told(HF_OK, f->client,
                hf_lock_acquire_start(locks[1], 0, &async, ERR));
    assert_int_equal(hf_lock_replicas(locks[1]), 2);
    expect_told(HF_OK, f->client, hf_lock_renew_start(locks[1], &async, ERR));
    expect_status(HF_OK, hf_lock_renew_many(locks, 2, statuses, ERR));
    assert_int_equal(hf_lock_replicas(locks[1]), 2);
    expect_status(HF_OK, hf_lock_release_many(locks, 2, statuses, ERR));
    expect_status(HF_OK, hf_lock_acquire_many(locks, 2, 0, statuses, ERR));
    assert_int_equal(statuses[0], HF_OK);
    assert_int_equal(statuses[1], HF_OK);
    expect_status(HF_OK, hf_lock_release_many(locks, 2, statuses, ERR));
}

/* A lock acquired while there were enough, renewed when there are not. */
TEST(renewal_without_enough_replicas_keeps_the_lock)
{
    fixture *f = *state;
    hf_lock_options opts = lock_asking(1, SHORT_MS);
    hf_lock *lock;
    hf_status status;

    if (!can_wait(f))
        return;
    lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
    status = hf_lock_try(lock, NULL);
    assert_true(status == HF_OK || status == HF_UNAVAILABLE);
    assert_int_equal(status == HF_OK, hf_lock_replicas(lock) >= 1);
    if (status == HF_OK) {
        expect_status(HF_OK, hf_lock_renew(lock, ERR));
        assert_true(hf_lock_is_held(lock));
    }
}

/* -------------------------------------------------------------- other writes
 */

TEST(transaction_that_only_reads_is_answered)
{
    fixture *f = *state;
    hf_client_options opts = asking(TOO_MANY, SHORT_MS);
    hf_bytes v = fixture_key(f, "v");
    hf_buffer got = HF_BUFFER_INIT;
    hf_async q = HF_ASYNC_INIT;
    hf_client *client;

    if (!can_wait(f))
        return;
    client = fixture_client(f, &opts);
    put_value(f->other, v, bytes("1"), 0);
    expect_status(HF_OK, hf_txn_new(client, NULL, &q.txn, ERR));
    expect_status(HF_OK, hf_txn_if_exists(q.txn, v, ERR));
    expect_status(HF_OK, hf_value_get_start(client, v, &got, &q, ERR));
    expect_status(HF_OK, hf_txn_exec(q.txn, ERR));
    assert_buffer(&got, bytes("1"));
    hf_txn_free(q.txn);
}

TEST(write_without_enough_replicas_is_in_doubt)
{
    fixture *f = *state;
    hf_client_options opts = asking(TOO_MANY, SHORT_MS);
    hf_bytes v = fixture_key(f, "v");
    hf_bytes h = fixture_key(f, "h");
    const hf_field field = {bytes("f"), bytes("1")};
    hf_bytes old = bytes("1");
    hf_client *client;

    if (!can_wait(f))
        return;
    client = fixture_client(f, &opts);
    expect_status(HF_INDETERMINATE,
                  hf_value_set(client, v, bytes("1"), NULL, NULL, ERR));
    assert_non_null(strstr(expect_message(), "of 16 replicas"));
    assert_value(f->other, v, bytes("1"));
    expect_status(HF_INDETERMINATE,
                  hf_value_cas(client, v, &old, bytes("2"), NULL, NULL, ERR));
    assert_value(f->other, v, bytes("2"));
    expect_status(HF_INDETERMINATE,
                  hf_hash_put(client, h, &field, 1, NULL, ERR));
    assert_field(f->other, h, bytes("f"), bytes("1"));
    expect_told(HF_INDETERMINATE, client,
                hf_key_expire_start(client, h, 60000, &async, ERR));
    expect_status(HF_INDETERMINATE,
                  hf_hash_delete_fields(client, h, &field.name, 1, NULL, ERR));
    expect_status(HF_INDETERMINATE, hf_value_delete(client, v, ERR));
    assert_no_key(f->other, v);
}

TEST(what_changed_nothing_is_still_answered)
{
    fixture *f = *state;
    hf_client_options opts = asking(TOO_MANY, 5000);
    hf_value_set_options nx = HF_VALUE_SET_OPTIONS_INIT;
    hf_bytes v = fixture_key(f, "v");
    hf_bytes wrong = bytes("wrong");
    hf_buffer value = HF_BUFFER_INIT;
    hf_client *client;

    if (!can_wait(f))
        return;
    client = fixture_client(f, &opts);
    put_value(f->other, v, bytes("1"), 0);
    nx.flags = HF_SET_NX | HF_SET_GET;
    expect_status(HF_CONFLICT,
                  hf_value_set(client, v, bytes("2"), &nx, &value, ERR));
    assert_buffer(&value, bytes("1"));
    expect_status(HF_CONFLICT, hf_value_cas(client, v, &wrong, bytes("2"), NULL,
                                            &value, ERR));
    assert_buffer(&value, bytes("1"));
    expect_status(HF_NOT_FOUND,
                  hf_value_delete(client, fixture_key(f, "nothing"), ERR));
    expect_status(HF_OK, hf_value_get(client, v, &value, ERR));
    assert_buffer(&value, bytes("1"));
}

TEST(batch_without_enough_replicas_is_in_doubt)
{
    fixture *f = *state;
    hf_client_options opts = asking(TOO_MANY, SHORT_MS);
    hf_value_set_item items[2] = {{fixture_key(f, "a{t}"), bytes("1")},
                                  {fixture_key(f, "b{t}"), bytes("2")}};
    hf_status statuses[2];
    hf_script *script;
    hf_reply *reply = NULL;
    hf_client *client;

    if (!can_wait(f))
        return;
    client = fixture_client(f, &opts);
    expect_status(HF_INDETERMINATE,
                  hf_value_set_many(client, items, 2, NULL, statuses, ERR));
    assert_int_equal(statuses[0], HF_INDETERMINATE);
    assert_int_equal(statuses[1], HF_INDETERMINATE);
    assert_value(f->other, items[1].key, bytes("2"));
    script = fixture_script(f, client, "return redis.call('del', KEYS[1])");
    expect_status(HF_INDETERMINATE, hf_script_run(script, &items[0].key, 1,
                                                  NULL, 0, &reply, ERR));
    assert_null(reply);
    assert_no_key(f->other, items[0].key);
}

static bool is_locked(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    return hf_lock_inspect(f->client, name, &info, NULL) == HF_OK;
}

/* The server hangs just when a grant is given back. */
TEST(cancelled_acquire_awaits_no_release)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_client_options slow = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options opts = lock_asking(TOO_MANY, 10);
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call;
    byte_proxy *proxy;
    hf_client *client;

    if (!can_wait(f) || f->store != FIXTURE_REDIS_UNIX)
        return;
    slow.request_ms = 20000;
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    client = fixture_client_at(f, byte_proxy_unix_url(proxy), &slow);
    async.call = &call;
    byte_proxy_delay(proxy, TO_CLIENT, 15);
    expect_status(HF_OK,
                  hf_lock_acquire_start(fixture_lock(f, client, name, &opts),
                                        60000, &async, ERR));
    expect_soon(is_locked(f, name), 5000);
    expect_soon(!is_locked(f, name), 5000);
    expect_soon(is_locked(f, name), 5000);
    hf_call_cancel(call);
    expect_soon(!is_locked(f, name), 5000); /* the reply is on its way */
    byte_proxy_freeze(proxy);
    await_told(client, &said, 1);
    assert_true(said.status != HF_OK);
    byte_proxy_stop(proxy);
}
