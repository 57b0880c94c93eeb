/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_test.c - condition variables and mutexes with a deadline, and the
 * descriptor that can be raised.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>

#include "support/slowness.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/event_fd.h"
#include "util/mutex.h"

/* A loaded machine may wake us late; never early. */
#define LATE_MS 5000

typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    bool done;
} meeting;

static void open_meeting(meeting *here)
{
    pthread_mutex_init(&here->mutex, NULL);
    hf__cond_init(&here->moved);
    here->done = false;
}

static void close_meeting(meeting *here)
{
    pthread_cond_destroy(&here->moved);
    pthread_mutex_destroy(&here->mutex);
}

TEST(cond_wait_ends_at_its_deadline)
{
    int64_t at_ms = hf__clock_boot_ms() + 20;
    meeting here;

    open_meeting(&here);
    pthread_mutex_lock(&here.mutex);
    while (hf__clock_boot_ms() < at_ms)
        hf__cond_wait_until(&here.moved, &here.mutex, at_ms);
    assert_took(hf__clock_boot_ms() - at_ms, 0, LATE_MS);
    hf__cond_wait_until(&here.moved, &here.mutex, at_ms);
    hf__cond_wait_until(&here.moved, &here.mutex, INT64_MIN);
    assert_took(hf__clock_boot_ms() - at_ms, 0, LATE_MS);
    pthread_mutex_unlock(&here.mutex);
    close_meeting(&here);
}

static void *finish(void *user)
{
    meeting *here = user;

    pthread_mutex_lock(&here->mutex);
    here->done = true;
    pthread_cond_broadcast(&here->moved);
    pthread_mutex_unlock(&here->mutex);
    return NULL;
}

TEST(cond_wait_without_limit_ends_when_signalled)
{
    pthread_t thread;
    meeting here;

    open_meeting(&here);
    pthread_mutex_lock(&here.mutex);
    assert_int_equal(pthread_create(&thread, NULL, finish, &here), 0);
    while (!here.done)
        hf__cond_wait_until(&here.moved, &here.mutex, INT64_MAX);
    pthread_mutex_unlock(&here.mutex);
    pthread_join(thread, NULL);
    close_meeting(&here);
}

TEST(mutex_that_is_free_is_taken_after_the_deadline_too)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    assert_int_equal(hf__mutex_lock_until(&mutex, INT64_MAX), 0);
    pthread_mutex_unlock(&mutex);
    assert_int_equal(hf__mutex_lock_until(&mutex, 0), 0);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
}

typedef struct try_lock {
    pthread_mutex_t *mutex;
    int64_t until_ms;
    int rc;
} try_lock;

static void *try_to_lock(void *user)
{
    try_lock *self = user;

    self->rc = hf__mutex_lock_until(self->mutex, self->until_ms);
    return NULL;
}

TEST(mutex_that_is_held_is_given_up_at_the_deadline)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    try_lock try = {&mutex, hf__clock_boot_ms() + 20, -1};
    pthread_t thread;

    pthread_mutex_lock(&mutex);
    assert_int_equal(pthread_create(&thread, NULL, try_to_lock, &try), 0);
    pthread_join(thread, NULL);
    assert_int_equal(try.rc, ETIMEDOUT);
    assert_took(hf__clock_boot_ms() - try.until_ms, 0, LATE_MS);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
}

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

TEST(event_fd_is_readable_while_it_is_raised)
{
    int fd = hf__event_fd_new();

    assert_true(fd >= 0);
    assert_false(is_readable(fd));
    hf__event_fd_raise(fd);
    hf__event_fd_raise(fd);
    assert_true(is_readable(fd));
    hf__event_fd_lower(fd);
    assert_false(is_readable(fd));
    hf__event_fd_lower(fd); /* must not block */
    hf__event_fd_free(fd);
    hf__event_fd_free(-1);
}
