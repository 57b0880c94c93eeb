/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exhaustion_test.c - a process without a free file descriptor: what needs one
 * fails with HF_SYSTEM and holds nothing; what needs none works.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "support/store_fixture.h"
#include "support/told.h"

#define DESCRIPTORS 256

static int taken[DESCRIPTORS];
static size_t taken_count;
static struct rlimit limit_before;

static void take_all_descriptors(void)
{
    struct rlimit low;
    int fd;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit_before), 0);
    low = limit_before;
    low.rlim_cur = DESCRIPTORS;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
        assert_true(taken_count < DESCRIPTORS);
        taken[taken_count++] = fd;
    }
}

static void give_them_back(void)
{
    while (taken_count > 0) {
        (void)close(taken[--taken_count]);
    }
    (void)setrlimit(RLIMIT_NOFILE, &limit_before);
}

static int give_back_and_close(void **state)
{
    give_them_back();
    return fixture_close(state);
}

EACH_TEST_WITH(fixture_open, give_back_and_close);
ALL_TESTS_WITH(fixture_start, fixture_stop);

TEST(open_without_a_descriptor_is_a_system_error)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    hf_client *client = NULL;
    hf_error err = HF_ERROR_INIT;

    (void)snprintf(url, sizeof(url), "%s", f->url);
    if (fixture_is_embedded(f)) {
        /* An open store is shared: it needs no descriptor. */
        fixture_embedded_url(f, "another", "4M", url);
    }
    take_all_descriptors();
    expect_status(HF_SYSTEM, hf_client_open(url, NULL, &client, ERR));
    assert_int_equal(hf_client_open(url, NULL, &client, &err), HF_SYSTEM);
    assert_int_equal(err.sys_errno, EMFILE);
    assert_null(client);
    give_them_back();
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    hf_client_close(client);
}

TEST(lost_fd_without_a_descriptor_is_a_system_error)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    int fd = -1;

    take_all_descriptors();
    expect_status(HF_SYSTEM, hf_lock_lost_fd(lock, &fd, ERR));
    assert_int_equal(fd, -1);
    give_them_back();
    expect_status(HF_OK, hf_lock_lost_fd(lock, &fd, ERR));
}

/* A lock that cannot be renewed is not granted. */
TEST(acquire_without_a_watchdog_is_a_system_error)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *other = fixture_lock(f, f->other, name, NULL);

    fixture_only_embedded(f);
    put_value(f->client, fixture_key(f, "warm"), bytes("1"), 0);
    take_all_descriptors();
    expect_status(HF_SYSTEM, hf_lock_try(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
    give_them_back();
    expect_status(HF_OK, hf_lock_try(other, ERR));
    expect_status(HF_OK, hf_lock_release(other, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
}

TEST(calls_work_without_a_free_descriptor)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;

    opts.flags = HF_LOCK_NO_RENEW;
    lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
    put_value(f->client, key, bytes("1"), 0);
    take_all_descriptors();
    put_value(f->client, key, bytes("2"), 60000);
    assert_value(f->client, key, bytes("2"));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    give_them_back();
}

static void *wait_first(void *user)
{
    return hf_lock_acquire(user, 300, NULL) == HF_TIMEOUT ? user : NULL;
}

/* On an embedded store a started call that waits needs one of its own; here
 * once the thread before it has given up. */
TEST(waiting_without_a_descriptor_is_a_system_error)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *first = fixture_lock(f, f->other, name, NULL);
    hf_lock *second = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    pthread_t thread;
    void *timed_out = NULL;

    fixture_only_embedded(f);
    expect_told(HF_OK, f->other, hf_lock_acquire_start(second, 0, &async, ERR));
    expect_told(HF_OK, f->other, hf_lock_release_start(second, &async, ERR));
    expect_status(HF_OK, hf_lock_try(holder, ERR));
    assert_int_equal(pthread_create(&thread, NULL, wait_first, first), 0);
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                300);
    take_all_descriptors();
    expect_told(HF_SYSTEM, f->other,
                hf_lock_acquire_start(second, 10000, &async, ERR));
    give_them_back();
    (void)pthread_join(thread, &timed_out);
    assert_non_null(timed_out);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_told(HF_OK, f->other,
                hf_lock_acquire_start(second, 10000, &async, ERR));
}
