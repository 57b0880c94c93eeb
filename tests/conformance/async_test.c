/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_test.c - the `_start` functions: they mean what the blocking ones do,
 * complete exactly once, and only where the program dispatches.
 */
#include <poll.h>
#include <unistd.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

TEST(async_values_mean_what_blocking_ones_do)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes one = bytes("1");
    hf_buffer value = HF_BUFFER_INIT;
    hf_value_set_options nx = HF_VALUE_SET_OPTIONS_INIT;

    nx.flags = HF_SET_NX;
    expect_told(HF_NOT_FOUND, f->client,
                hf_value_get_start(f->client, key, &value, &async, ERR));
    expect_told(
        HF_OK, f->client,
        hf_value_set_start(f->client, key, one, &nx, NULL, &async, ERR));
    expect_told(
        HF_CONFLICT, f->client,
        hf_value_set_start(f->client, key, one, &nx, NULL, &async, ERR));
    expect_told(HF_OK, f->client,
                hf_value_get_start(f->client, key, &value, &async, ERR));
    assert_buffer(&value, one);
    expect_told(HF_OK, f->client,
                hf_value_cas_start(f->client, key, &one, bytes("2"), NULL,
                                   &value, &async, ERR));
    expect_told(
        HF_CONFLICT, f->client,
        hf_value_delete_if_start(f->client, key, one, &value, &async, ERR));
    assert_buffer(&value, bytes("2"));
    expect_told(HF_OK, f->client,
                hf_value_delete_start(f->client, key, &async, ERR));
    assert_no_key(f->client, key);
}

TEST(async_keys_and_hashes_mean_what_blocking_ones_do)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_field field = {bytes("f"), bytes("v")};
    hf_bytes expected = bytes("v");
    hf_buffer value = HF_BUFFER_INIT;
    hf_fields fields = {0};
    size_t removed = 9;
    int64_t ttl_ms = 0;

    expect_told(
        HF_OK, f->client,
        hf_hash_put_start(f->client, key, &field, 1, NULL, &async, ERR));
    expect_told(HF_OK, f->client,
                hf_key_expire_start(f->client, key, 60000, &async, ERR));
    expect_told(HF_OK, f->client,
                hf_key_ttl_start(f->client, key, &ttl_ms, &async, ERR));
    assert_in_range(ttl_ms, 58000, 60000);
    expect_told(HF_OK, f->client,
                hf_key_expire_start(f->client, key, -1, &async, ERR));
    assert_no_ttl(f->client, key);
    expect_told(
        HF_OK, f->client,
        hf_hash_get_start(f->client, key, field.name, &value, &async, ERR));
    assert_buffer(&value, bytes("v"));
    expect_told(HF_OK, f->client,
                hf_hash_get_all_start(f->client, key, &fields, &async, ERR));
    assert_int_equal(fields.count, 1);
    hf_fields_free(&fields);
    expect_told(HF_OK, f->client,
                hf_hash_cas_start(f->client, key, field.name, &expected,
                                  bytes("w"), NULL, NULL, &async, ERR));
    assert_field(f->other, key, field.name, bytes("w"));
    expect_told(HF_OK, f->client,
                hf_hash_delete_fields_start(f->client, key, &field.name, 1,
                                            &removed, &async, ERR));
    assert_int_equal(removed, 1);
    expect_told(HF_NOT_FOUND, f->client,
                hf_hash_delete_start(f->client, key, &async, ERR));
}

TEST(async_scripts_load_and_run)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script = NULL;
    hf_reply *reply = NULL;

    expect_told(HF_SCRIPT, f->client,
                hf_script_load_start(f->client, bytes("return return"), &script,
                                     &async, ERR));
    assert_null(script);
    expect_told(
        HF_OK, f->client,
        hf_script_load_start(f->client,
                             bytes("return redis.call('incrby', KEYS[1], "
                                   "ARGV[1])"),
                             &script, &async, ERR));
    expect_told(HF_OK, f->client,
                hf_script_run_start(script, &key, 1, (hf_bytes[]){bytes("7")},
                                    1, &reply, &async, ERR));
    assert_int_equal(hf_reply_integer(reply), 7);
    hf_reply_free(reply);
    hf_script_free(script);
}

TEST(async_inputs_may_be_reused_once_started)
{
    fixture *f = *state;
    char key_bytes[64];
    char value_bytes[] = "before";
    hf_bytes name = fixture_key(f, "k");
    told said = {0};
    hf_async async = tell(&said);

    assert_true(name.size < sizeof(key_bytes));
    memcpy(key_bytes, name.data, name.size);
    expect_status(HF_OK, hf_value_set_start(
                             f->client, hf_view(key_bytes, name.size),
                             hf_str(value_bytes), NULL, NULL, &async, ERR));
    memset(key_bytes, 'x', sizeof(key_bytes));
    memset(value_bytes, 'x', sizeof(value_bytes) - 1);
    await_told(f->client, &said, 1);
    assert_value(f->other, name, bytes("before"));
}

TEST(async_calls_complete_only_in_a_dispatch)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    told said = {0};
    hf_async async = tell(&said);
    struct pollfd pfd = {.events = POLLIN};
    size_t running = 0;

    expect_status(HF_OK, hf_client_fd(f->client, &pfd.fd, ERR));
    assert_int_equal(poll(&pfd, 1, 0), 0);
    expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("v"), NULL,
                                            NULL, &async, ERR));
    assert_int_equal(poll(&pfd, 1, 10000), 1);
    assert_int_equal(said.count, 0);
    expect_status(HF_OK, hf_client_dispatch(f->client, &running, ERR));
    assert_int_equal(said.count, 1);
    assert_int_equal(running, 0);
    assert_int_equal(poll(&pfd, 1, 0), 0);
}

typedef struct nested {
    hf_client *client;
    struct pollfd pfd;
    int polled;
    unsigned count;
} nested;

/* As an event loop that the program runs here would. */
static void poll_for_the_other(void *user, hf_status status,
                               const hf_error *err)
{
    nested *self = user;

    (void)status;
    (void)err;
    if (self->count++ > 0)
        return;
    self->polled = poll(&self->pfd, 1, 10000);
    (void)!hf_client_dispatch(self->client, NULL, NULL);
}

TEST(async_descriptor_is_readable_within_done)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    nested self = {.client = f->client, .pfd = {.events = POLLIN}};
    hf_async async = HF_ASYNC_INIT;

    async.done = poll_for_the_other;
    async.user = &self;
    expect_status(HF_OK, hf_client_fd(f->client, &self.pfd.fd, ERR));
    for (int i = 0; i < 2; i++)
        expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("v"),
                                                NULL, NULL, &async, ERR));
    (void)usleep(50000); /* until both have completed, mostly */
    while (self.count < 2) {
        assert_int_equal(poll(&self.pfd, 1, 10000), 1);
        dispatch(f->client);
    }
    assert_int_equal(self.polled, 1);
    dispatch(f->client);
    assert_int_equal(poll(&self.pfd, 1, 0), 0);
}

/* More than a connection holds at a time. */
#define MANY 20000

TEST(async_thousands_complete_once_each)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script =
        fixture_script(f, f->client, "return redis.call('incr', KEYS[1])");
    static hf_reply *replies[MANY];
    told said = {0};
    hf_async async = tell(&said);
    int64_t sum = 0;

    memset(replies, 0, sizeof(replies));
    for (size_t i = 0; i < MANY; i++)
        expect_status(HF_OK, hf_script_run_start(script, &key, 1, NULL, 0,
                                                 &replies[i], &async, ERR));
    await_told(f->client, &said, MANY);
    for (size_t i = 0; i < MANY; i++) {
        sum += hf_reply_integer(replies[i]);
        hf_reply_free(replies[i]);
    }
    assert_int_equal(sum, (int64_t)MANY * (MANY + 1) / 2);
    assert_value(f->client, key, bytes("20000"));
}

TEST(async_mistakes_fail_at_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;
    told said = {0};
    hf_async async = tell(&said);
    hf_async empty = HF_ASYNC_INIT;
    hf_async small = {0};

    expect_status(HF_INVALID, hf_value_get_start(f->client, bytes(""), &value,
                                                 &async, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_start(f->client, key, NULL, &async, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_start(f->client, key, &value, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_start(f->client, key, &value, &empty, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_start(f->client, key, &value, &small, ERR));
    expect_status(HF_INVALID,
                  hf_value_get_start(NULL, key, &value, &async, ERR));
    dispatch(f->client);
    assert_int_equal(said.count, 0);
}

TEST(async_cancel_is_harmless_at_any_time)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer value = HF_BUFFER_INIT;
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;

    put_value(f->client, key, bytes("v"), 0);
    async.call = &call;
    for (unsigned i = 1; i <= 200; i++) {
        expect_status(HF_OK,
                      hf_value_get_start(f->client, key, &value, &async, ERR));
        hf_call_cancel(call);
        hf_call_cancel(call);
        await_told(f->client, &said, i);
        if (said.status == HF_OK)
            assert_buffer(&value, bytes("v"));
        else
            assert_true(said.status == HF_CANCELLED ||
                        said.status == HF_INDETERMINATE);
    }
    hf_call_cancel(NULL);
}

TEST(async_cancel_of_what_has_completed_is_harmless)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    told said = {0};
    hf_async async = tell(&said);
    hf_call *calls[2] = {NULL, NULL};
    struct pollfd pfd = {.events = POLLIN};

    expect_status(HF_OK, hf_client_fd(f->client, &pfd.fd, ERR));
    for (int i = 0; i < 2; i++) {
        async.call = &calls[i];
        expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("v"),
                                                NULL, NULL, &async, ERR));
    }
    /* It has completed, but is not dispatched yet. */
    assert_int_equal(poll(&pfd, 1, 10000), 1);
    hf_call_cancel(calls[0]);
    hf_call_cancel(calls[1]);
    await_told(f->client, &said, 2);
    assert_true(said.status == HF_OK);
}

typedef struct self_cancel {
    hf_call *call;
    told said;
} self_cancel;

static void cancel_itself(void *user, hf_status status, const hf_error *err)
{
    self_cancel *self = user;

    (void)err;
    hf_call_cancel(self->call);
    self->said.count++;
    self->said.status = status;
}

TEST(async_done_may_cancel_its_own_call)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_async async = HF_ASYNC_INIT;
    static self_cancel self;

    self = (self_cancel){0};
    async.done = cancel_itself;
    async.user = &self;
    async.call = &self.call;
    expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("v"), NULL,
                                            NULL, &async, ERR));
    await_told(f->client, &self.said, 1);
    expect_status(HF_OK, self.said.status);
}
