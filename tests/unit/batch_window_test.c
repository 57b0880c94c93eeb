/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_window_test.c - a batch of any size: one window of requests is sent
 * together, and the next window has all of request_ms after it.
 */
#include <stdio.h>

#include "core/many.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/answering_store.h"
#include "support/every_call.h"
#include "support/test.h"
#include "util/clock.h"

#define COUNT (2 * HF__MANY_WINDOW + 10)
#define REQUEST_MS 5000

typedef struct watcher {
    bool silent;        /* no request gets a reply */
    size_t asked;       /* submitted, less releases */
    size_t windows;     /* how many times */
    int64_t first_ms;   /* deadline of the first */
    int64_t ended_ms;   /* when the previous window got its last reply */
    bool shared_time;   /* a request had less time than it should have */
    bool was_too_large; /* more at once than a window holds */
    bool sent_more;     /* a request had time after a silent window */
} watcher;

static bool answer(void *user, const char *target, hf__arena *arena,
                   hf_reply *reply)
{
    const watcher *self = user;

    (void)target;
    (void)arena;
    hf__reply_set_integer(reply, 1);
    return !self->silent;
}

static bool is_release(const hf__request *request)
{
    return request->script != NULL &&
           request->script->index == HF__SCRIPT_LOCK_RELEASE;
}

static void submitted(void *user, hf__request *const *requests, size_t count)
{
    watcher *self = user;

    if (is_release(requests[0]))
        return;
    self->windows++;
    self->asked += count;
    self->was_too_large = self->was_too_large || count > HF__MANY_WINDOW;
    if (self->windows == 1)
        self->first_ms = requests[count - 1]->deadline_ms;
    for (size_t i = 0; i < count; i++) {
        int64_t deadline_ms = requests[i]->deadline_ms;

        if (deadline_ms < self->ended_ms + REQUEST_MS)
            self->shared_time = true;
        if (self->windows > 1 && deadline_ms > self->first_ms)
            self->sent_more = true;
    }
    /* The next window is prepared later. */
    hf__clock_sleep_until(hf__clock_boot_ms() + 3);
    self->ended_ms = hf__clock_boot_ms();
}

typedef struct batch {
    every_place place;
    answering_store store;
    watcher watcher;
    hf_lock *locks[COUNT];
    hf_bytes keys[COUNT];
    hf_buffer values[COUNT];
    hf_status statuses[COUNT];
} batch;

static batch b;

static int begin(void **state)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options no_renewal = HF_LOCK_OPTIONS_INIT;

    (void)state;
    memset(&b, 0, sizeof(b));
    options.request_ms = REQUEST_MS;
    no_renewal.flags = HF_LOCK_NO_RENEW;
    assert_true(every_place_begin(&b.place));
    assert_int_equal(
        hf_client_open(b.place.url, &options, &b.place.client, NULL), HF_OK);
    b.store.answer = answer;
    b.store.submitted = submitted;
    b.store.user = &b.watcher;
    answering_store_begin(&b.store, b.place.client);
    for (size_t i = 0; i < COUNT; i++) {
        char name[32];

        snprintf(name, sizeof(name), "l%zu", i);
        b.keys[i] = hf_str("k");
        assert_int_equal(hf_lock_new(b.place.client, hf_str(name), &no_renewal,
                                     &b.locks[i], NULL),
                         HF_OK);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    b.store.submitted = NULL;
    for (size_t i = 0; i < COUNT; i++)
        hf_lock_free(b.locks[i]);
    answering_store_end(&b.store, b.place.client);
    hf_client_close(b.place.client);
    every_place_end(&b.place);
    return 0;
}

EACH_TEST_WITH(begin, end);

TEST(each_window_of_locks_has_time_of_its_own)
{
    assert_int_equal(hf_lock_acquire_many(b.locks, COUNT, 0, b.statuses, NULL),
                     HF_OK);
    assert_int_equal(b.watcher.asked, COUNT);
    assert_int_equal(b.watcher.windows, 3);
    assert_false(b.watcher.was_too_large);
    assert_false(b.watcher.shared_time);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(b.statuses[i], HF_OK);
}

TEST(each_window_of_calls_has_time_of_its_own)
{
    /* An integer is not a value, but a reply. */
    (void)!hf_value_get_many(b.place.client, b.keys, COUNT, b.values,
                             b.statuses, NULL);
    assert_int_equal(b.watcher.asked, COUNT);
    assert_false(b.watcher.shared_time);
}

TEST(store_that_is_silent_is_not_asked_for_all_locks)
{
    b.watcher.silent = true;
    assert_int_equal(hf_lock_acquire_many(b.locks, COUNT, 0, b.statuses, NULL),
                     HF_INDETERMINATE);
    assert_int_equal(b.watcher.asked, HF__MANY_WINDOW);
    assert_int_equal(b.statuses[HF__MANY_WINDOW - 1], HF_INDETERMINATE);
    assert_int_equal(b.statuses[HF__MANY_WINDOW], HF_UNAVAILABLE);
    assert_int_equal(b.statuses[COUNT - 1], HF_UNAVAILABLE);
}

TEST(store_that_is_silent_is_not_given_more_time)
{
    b.watcher.silent = true;
    assert_int_equal(hf_value_get_many(b.place.client, b.keys, COUNT, b.values,
                                       b.statuses, NULL),
                     HF_INDETERMINATE);
    assert_false(b.watcher.sent_more);
}
