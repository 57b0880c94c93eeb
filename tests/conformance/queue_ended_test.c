/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_ended_test.c - what is known about the end of a job: hf_queue_ended()
 * after hf_queue_next(), and the same end sent once more. What the store has
 * answered stays known, whatever becomes of the rest of the call.
 */
#include <unistd.h>

#include "holdfast/queue.h"
#include "support/queue_work.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define next_by(lock, wait_ms)                                                 \
    hf_queue_next((lock), HF_QUEUE_DONE, 0, (wait_ms), ERR)

TEST(queue_ended_says_how_the_end_went)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, slowed_ms(50));
    hf_lock *other = worker(f, queue);

    expect_status(HF_NOT_FOUND, hf_queue_ended(lock, ERR));
    put(f, queue, "a");
    put(f, queue, "b");
    take(other, "a");
    expect_status(HF_NOT_FOUND, hf_queue_ended(other, ERR));
    expect_status(HF_OK, next_by(other, 0));
    expect_status(HF_OK, hf_queue_ended(other, ERR));
    expect_status(HF_OK, hf_lock_release(other, ERR));
    take(lock, "b");
    expect_soon(info_of(f, queue).ready == 1, 5000);
    take(other, "b");
    expect_status(HF_EXPIRED, next_by(lock, 0));
    expect_status(HF_EXPIRED, hf_queue_ended(lock, ERR));
    expect_status(HF_TIMEOUT, next_by(lock, 0));
    expect_status(HF_NOT_FOUND, hf_queue_ended(lock, ERR));
    expect_status(HF_OK, hf_queue_done(other, ERR));
    expect_status(HF_INVALID,
                  hf_queue_ended(fixture_lock(f, f->client, queue, NULL), ERR));
}

/* ----------------------------------------------------- the rest of the call */

/* It asks by itself once a second; the server does not answer that. */
TEST(queue_ended_knows_what_came_before_the_wait_failed)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    async.call = &call;
    lock = worker_for(f, client, queue, 0);
    put(f, queue, "a");
    take(lock, "a");
    expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0, HF_FOREVER,
                                             &async, ERR));
    expect_soon((dispatch(client), hf_queue_ended(lock, NULL) == HF_OK), 5000);
    byte_proxy_freeze(proxy);
    usleep(1500000);
    hf_call_cancel(call);
    await_told(client, &said, 1);
    assert_int_equal(said.status, HF_INDETERMINATE);
    expect_status(HF_OK, hf_queue_ended(lock, ERR));
    assert_no_key(f->client, queue);
    byte_proxy_heal(proxy);
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

/* A cancelled call ends soon, but not without that reply. */
TEST(queue_end_under_way_is_not_cut_by_a_cancel)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    async.call = &call;
    lock = worker_for(f, client, queue, 60000);
    put(f, queue, "a");
    take(lock, "a");
    byte_proxy_delay(proxy, TO_CLIENT, 1000);
    expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0, HF_FOREVER,
                                             &async, ERR));
    hf_call_cancel(call);
    await_told(client, &said, 1);
    expect_status(HF_OK, hf_queue_ended(lock, ERR));
    assert_no_key(f->client, queue);
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

/* Nor by one that comes while it waits to send it again. */
TEST(queue_end_is_sent_once_more_after_a_cancel)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    async.call = &call;
    lock = worker_for(f, client, queue, 60000);
    put(f, queue, "a");
    take(lock, "a");
    byte_proxy_refuse(proxy, true);
    byte_proxy_break(proxy, BYTE_END_CLOSE);
    expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0, HF_FOREVER,
                                             &async, ERR));
    usleep(500000);
    byte_proxy_refuse(proxy, false);
    hf_call_cancel(call);
    await_told(client, &said, 1);
    assert_int_equal(said.status, HF_CANCELLED);
    expect_status(HF_OK, hf_queue_ended(lock, ERR));
    assert_no_key(f->client, queue);
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

/* ------------------------------------------------------------- sent again */

/* Its requests do not take long to fail. */
static hf_client *impatient_client(fixture *f, byte_proxy *proxy)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;

    opts.request_ms = slowed_ms(300);
    return fixture_client_at(f, byte_proxy_unix_url(proxy), &opts);
}

static hf_lock *begin_away(fixture *f, byte_proxy *proxy, hf_bytes queue,
                           int64_t ttl_ms)
{
    return worker_for(f, impatient_client(f, proxy), queue, ttl_ms);
}

static void go_away(byte_proxy *proxy)
{
    byte_proxy_refuse(proxy, true);
    byte_proxy_break(proxy, BYTE_END_CLOSE);
}

static bool is_unknown(hf_status status)
{
    return status == HF_UNAVAILABLE || status == HF_INDETERMINATE;
}

/* The first answer. */
static hf_status end_again(hf_lock *lock, bool takes)
{
    hf_status status = HF_UNAVAILABLE;

    expect_soon(!is_unknown(status = takes ? next_by(lock, 5000)
                                           : hf_queue_done(lock, ERR)),
                10000);
    return status;
}

/* The request is not sent, or its reply is lost; then by either function. */
TEST(queue_end_without_an_answer_can_be_sent_again)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_lock *other = worker(f, queue), *lock;

    if (proxy == NULL)
        skip();
    lock = begin_away(f, proxy, queue, 60000);
    for (int i = 0; i < 8; i++) {
        bool takes = (i & 4) != 0;

        put(f, queue, "a");
        put(f, queue, "b");
        take(lock, "a");
        if ((i & 1) != 0) {
            byte_proxy_cut(proxy, TO_CLIENT, 0, BYTE_END_CLOSE);
            byte_proxy_refuse(proxy, true);
        } else {
            go_away(proxy);
        }
        assert_true(is_unknown((i & 2) != 0 ? hf_queue_done(lock, ERR)
                                            : next_by(lock, 0)));
        byte_proxy_refuse(proxy, false);
        assert_int_equal(end_again(lock, takes), HF_OK);
        if (takes)
            expect_job(lock, "b");
        expect_status(takes ? HF_OK : HF_INVALID, hf_queue_done(lock, ERR));
        if (!takes) { /* a take that got no reply may give it back late */
            expect_soon(hf_lock_try(other, NULL) == HF_OK, 10000);
            expect_status(HF_OK, hf_queue_done(other, ERR));
        }
        assert_no_key(f->client, queue);
    }
    byte_proxy_stop(proxy);
}

/* The next job is another one. */
TEST(queue_end_is_not_sent_again_after_a_take)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    lock = begin_away(f, proxy, queue, 60000);
    put(f, queue, "a");
    put(f, queue, "b");
    take(lock, "a");
    go_away(proxy);
    assert_true(is_unknown(hf_queue_done(lock, ERR)));
    byte_proxy_refuse(proxy, false);
    expect_soon(hf_lock_try(lock, NULL) == HF_OK, 10000);
    expect_job(lock, "b");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    expect_status(HF_INVALID, hf_queue_done(lock, ERR));
    assert_counts(f, queue, 0, 1, 0, 0, 0);
    byte_proxy_stop(proxy);
}

/* It does not have another job. */
TEST(queue_end_is_sent_again_after_a_take_that_failed)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    lock = begin_away(f, proxy, queue, 60000);
    for (int i = 0; i < 2; i++) {
        put(f, queue, "a");
        take(lock, "a");
        go_away(proxy);
        assert_true(
            is_unknown(i == 0 ? hf_queue_done(lock, ERR) : next_by(lock, 0)));
        assert_true(is_unknown(hf_lock_try(lock, ERR)));
        byte_proxy_refuse(proxy, false);
        expect_soon(hf_lock_try(lock, NULL) == HF_HELD, 10000);
        assert_int_equal(end_again(lock, false), HF_OK);
        assert_no_key(f->client, queue);
        expect_status(HF_INVALID, hf_queue_done(lock, ERR));
    }
    byte_proxy_stop(proxy);
}

/* The client knows that, and sends nothing. */
static void go_away_from(hf_client *client, byte_proxy *proxy, hf_bytes queue)
{
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    go_away(proxy);
    expect_soon(hf_queue_inspect(client, queue, &info, NULL) == HF_UNAVAILABLE,
                5000);
}

/* To the last: while the store is away, a cancel does not say that it was
 * applied, nor one that comes when the call has failed already. */
TEST(queue_end_that_was_not_sent_is_not_reported_as_cancelled)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_call *call = NULL;
    hf_lock *lock;

    if (proxy == NULL)
        skip();
    client = impatient_client(f, proxy);
    lock = worker_for(f, client, queue, 60000);
    for (int64_t wait_ms = 0; wait_ms <= 60000; wait_ms += 60000) {
        told said = {0};
        hf_async async = tell(&said);

        async.call = &call;
        put(f, queue, "a");
        expect_soon(hf_lock_try(lock, NULL) == HF_OK, 5000);
        go_away_from(client, proxy, queue);
        expect_status(HF_OK, hf_queue_next_start(lock, HF_QUEUE_DONE, 0,
                                                 wait_ms, &async, ERR));
        if (wait_ms == 0)
            expect_status(HF_OK, hf_client_wait(client, 10000, ERR));
        hf_call_cancel(call);
        await_told(client, &said, 1);
        assert_int_equal(said.status, HF_UNAVAILABLE);
        expect_status(HF_INDETERMINATE, hf_queue_ended(lock, ERR));
        byte_proxy_refuse(proxy, false);
        assert_counts(f, queue, 0, 1, 0, 0, 0);
        assert_int_equal(end_again(lock, false), HF_OK);
        assert_no_key(f->client, queue);
    }
    byte_proxy_stop(proxy);
}

/* Another worker has the job by then. If the first request may have arrived, it
 * may have ended the job before. The next call takes one in any case. */
TEST(queue_end_that_is_sent_again_too_late_is_not_known)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_client *client;
    byte_proxy *proxy = begin_proxy(f, &client);
    hf_lock *other = worker(f, queue), *lock;

    if (proxy == NULL)
        skip();
    client = impatient_client(f, proxy);
    lock = worker_for(f, client, queue, slowed_ms(300));
    for (int i = 0; i < 4; i++) {
        bool takes = (i & 1) != 0, sent = (i & 2) != 0;
        hf_status again;

        put(f, queue, "a");
        put(f, queue, "b");
        expect_soon(hf_lock_try(lock, NULL) == HF_OK, 5000);
        expect_job(lock, "a");
        if (sent)
            byte_proxy_swallow(proxy, TO_SERVER);
        else
            go_away_from(client, proxy, queue);
        expect_status(sent ? HF_INDETERMINATE : HF_UNAVAILABLE,
                      takes ? next_by(lock, 0) : hf_queue_done(lock, ERR));
        expect_soon(info_of(f, queue).taken == 0, 5000);
        take(other, "a");
        byte_proxy_heal(proxy);
        byte_proxy_refuse(proxy, false);
        again = end_again(lock, takes);
        assert_int_equal(again, !sent   ? HF_EXPIRED
                                : takes ? HF_OK
                                        : HF_INVALID);
        if (again != HF_OK)
            expect_status(HF_OK, next_by(lock, 5000));
        expect_job(lock, "b");
        expect_status(HF_OK, hf_queue_done(lock, ERR));
        expect_status(HF_OK, hf_queue_done(other, ERR));
        assert_no_key(f->client, queue);
    }
    byte_proxy_stop(proxy);
}
