/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_calls_test.c - the system calls that a request takes. This file defines
 * recv() and send(), which count.
 */
#include "redis_driver.h"

#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint peeks; /* recv() with MSG_PEEK */
static atomic_uint reads; /* the others */
static atomic_uint sends;

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    atomic_fetch_add((flags & MSG_PEEK) != 0 ? &peeks : &reads, 1);
    return syscall(SYS_recvfrom, fd, data, size, flags, NULL, NULL);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    atomic_fetch_add(&sends, 1);
    return syscall(SYS_sendto, fd, data, size, flags, NULL, 0);
}

static int tcp_set_up(void **state)
{
    static driver_fixture self;

    self.server = redis_server_start(NULL);
    if (self.server == NULL)
        return -1;
    driver_open(&self.driver, redis_server_tcp_url(self.server));
    *state = &self;
    return 0;
}

ALL_TESTS_WITH(tcp_set_up, driver_tear_down);

#define ROUNDS 200

/* Do `count` requests, each after a pause. */
static void request_often(test_driver *driver, bool repeatable,
                          int64_t pause_ms, int count)
{
    test_call call;

    for (int i = 0; i < count; i++) {
        if (pause_ms > 0)
            hf__clock_sleep_until(hf__clock_boot_ms() + pause_ms);
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        call.request.repeatable = repeatable;
        assert_int_equal(call_perform(driver, &call), HF_OK);
        call_end(&call);
    }
}

/* On a busy machine there may be a pause between two of them. */
TEST(repeatable_request_is_one_send_and_one_recv)
{
    driver_fixture *self = *state;

    request_often(&self->driver, true, 0, 1);
    atomic_store(&peeks, 0);
    atomic_store(&reads, 0);
    atomic_store(&sends, 0);
    request_often(&self->driver, true, 0, ROUNDS);
    assert_in_range(atomic_load(&peeks), 0, ROUNDS / 4);
    assert_int_equal(atomic_load(&sends), ROUNDS);
    assert_in_range(atomic_load(&reads), ROUNDS, ROUNDS + ROUNDS / 4);
}

/* The server may have closed the connection meanwhile. */
TEST(idle_connection_is_looked_at)
{
    driver_fixture *self = *state;

    atomic_store(&peeks, 0);
    request_often(&self->driver, true, 5, 20);
    assert_int_equal(atomic_load(&peeks), 20);
}

/* Or its outcome would be unknown. */
TEST(connection_is_looked_at_before_what_may_not_be_repeated)
{
    driver_fixture *self = *state;

    atomic_store(&peeks, 0);
    request_often(&self->driver, false, 0, ROUNDS);
    assert_int_equal(atomic_load(&peeks), ROUNDS);
}
