/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rwlock_downgrade_test.c - a downgrade whose reply is late or lost: the writer
 * stops believing when the request is sent.
 */
#include "holdfast/rwlock.h"
#include "support/byte_proxy.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

typedef struct late {
    byte_proxy *proxy;
    hf_client *client; /* behind it */
    hf_lock *read;     /* its handles */
    hf_lock *write;
    hf_lock *other_read; /* of another client */
    hf_lock *other_write;
} late;

/* Acquires the write lock. */
static void late_open(fixture *f, late *self, int64_t ttl_ms,
                      int64_t request_ms)
{
    hf_client_options patience = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_bytes name = fixture_key(f, "rw");

    assert_non_null(f->server);
    patience.request_ms = request_ms;
    opts.ttl_ms = ttl_ms;
    opts.flags = HF_LOCK_NO_RENEW;
    self->proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(self->proxy);
    expect_status(HF_OK, hf_client_open(byte_proxy_unix_url(self->proxy),
                                        &patience, &self->client, ERR));
    expect_status(HF_OK, hf_rwlock_new(self->client, name, 0, &opts,
                                       &self->read, &self->write, ERR));
    expect_status(HF_OK,
                  hf_rwlock_new(f->other, name, 0, NULL, &self->other_read,
                                &self->other_write, ERR));
    expect_status(HF_OK, hf_lock_acquire(self->write, 10000, ERR));
}

static void late_close(late *self)
{
    hf_lock_free(self->read);
    hf_lock_free(self->write);
    hf_lock_free(self->other_read);
    hf_lock_free(self->other_write);
    hf_client_close(self->client);
    byte_proxy_stop(self->proxy);
}

static void assert_not_held(const hf_lock *lock)
{
    assert_false(hf_lock_is_held(lock));
    assert_int_equal(hf_lock_remaining_ms(lock), 0);
}

/* The owner reads at the store, and no reply says so. */
static void lose_the_reply(late *self)
{
    byte_proxy_swallow(self->proxy, TO_CLIENT);
    expect_status(HF_INDETERMINATE, hf_rwlock_downgrade(self->write, ERR));
    byte_proxy_heal(self->proxy);
    assert_not_held(self->write);
    assert_not_held(self->read);
    expect_status(HF_OK, hf_lock_acquire(self->other_read, 10000, ERR));
    expect_status(HF_INVALID, hf_lock_try(self->read, ERR));
}

TEST(rwlock_downgrade_ends_the_write_lock_when_it_is_sent)
{
    late self;
    told said = {0};
    hf_async async = tell(&said);
    uint64_t token;

    late_open(*state, &self, 60000, slowed_ms(500));
    token = hf_lock_token(self.write);
    byte_proxy_freeze(self.proxy);
    expect_status(HF_OK, hf_rwlock_downgrade_start(self.write, &async, ERR));
    assert_not_held(self.write);
    expect_status(HF_INVALID, hf_rwlock_downgrade(self.write, ERR));
    expect_status(HF_INVALID, hf_lock_release(self.write, ERR));
    expect_status(HF_INVALID, hf_lock_try(self.read, ERR));
    byte_proxy_heal(self.proxy);
    await_told(self.client, &said, 1);
    if (said.status != HF_OK) /* a slow machine: no reply in time */
        expect_status(HF_OK, hf_rwlock_downgrade(self.write, ERR));
    assert_not_held(self.write);
    assert_true(hf_lock_is_held(self.read));
    assert_int_equal(hf_lock_token(self.read), token);
    late_close(&self);
}

TEST(rwlock_downgrade_may_be_repeated)
{
    late self;

    late_open(*state, &self, 60000, slowed_ms(500));
    lose_the_reply(&self);
    expect_status(HF_OK, hf_rwlock_downgrade(self.write, ERR));
    assert_true(hf_lock_is_held(self.read));
    assert_not_held(self.write);
    expect_status(HF_OK, hf_lock_release(self.read, ERR));
    expect_status(HF_OK, hf_lock_release(self.other_read, ERR));
    expect_status(HF_OK, hf_lock_try(self.other_write, ERR));
    late_close(&self);
}

/* The lease would last for a minute. */
TEST(rwlock_release_ends_a_downgrade_without_a_reply)
{
    late self;

    late_open(*state, &self, 60000, slowed_ms(500));
    lose_the_reply(&self);
    expect_status(HF_INDETERMINATE, hf_lock_release(self.write, ERR));
    expect_status(HF_OK, hf_lock_release(self.other_read, ERR));
    expect_status(HF_OK, hf_lock_acquire(self.other_write, 10000, ERR));
    expect_status(HF_HELD, hf_lock_try(self.read, ERR));
    late_close(&self);
}

TEST(rwlock_free_ends_a_downgrade_without_a_reply)
{
    late self;

    late_open(*state, &self, 60000, slowed_ms(500));
    lose_the_reply(&self);
    hf_lock_free(self.read);
    hf_lock_free(self.write);
    self.read = self.write = NULL;
    expect_status(HF_OK, hf_lock_release(self.other_read, ERR));
    expect_status(HF_OK, hf_lock_acquire(self.other_write, 10000, ERR));
    late_close(&self);
}

/* The request never arrived: a release frees the write lock. */
TEST(rwlock_downgrade_that_was_not_done_is_released)
{
    late self;

    late_open(*state, &self, 60000, slowed_ms(500));
    byte_proxy_swallow(self.proxy, TO_SERVER);
    expect_status(HF_INDETERMINATE, hf_rwlock_downgrade(self.write, ERR));
    byte_proxy_heal(self.proxy);
    assert_not_held(self.write);
    expect_status(HF_HELD, hf_lock_try(self.other_read, ERR));
    expect_status(HF_OK, hf_lock_release(self.write, ERR));
    expect_status(HF_OK, hf_lock_try(self.other_write, ERR));
    late_close(&self);
}

TEST(rwlock_close_ends_a_downgrade_without_a_reply)
{
    late self;
    told said = {0};
    hf_async async = tell(&said);

    late_open(*state, &self, 60000, slowed_ms(500));
    byte_proxy_freeze(self.proxy);
    expect_status(HF_OK, hf_rwlock_downgrade_start(self.write, &async, ERR));
    hf_client_close(self.client);
    self.client = NULL;
    assert_int_equal(said.count, 1);
    assert_int_not_equal(said.status, HF_OK);
    late_close(&self);
}

/* The reply says that the owner reads, and its lease is over. */
TEST(rwlock_downgrade_is_lost_if_the_reply_is_late)
{
    late self;

    late_open(*state, &self, 400, 20000);
    byte_proxy_delay(self.proxy, TO_CLIENT, 450);
    expect_status(HF_LOST, hf_rwlock_downgrade(self.write, ERR));
    assert_not_held(self.write);
    assert_not_held(self.read);
    expect_status(HF_LOST, hf_rwlock_downgrade(self.write, ERR));
    late_close(&self);
}
