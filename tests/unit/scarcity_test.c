/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scarcity_test.c - a process that runs out of memory or descriptors, at each
 * point in turn: calls fail and report it, nothing ends the process, and
 * afterwards everything works as before.
 *
 * This file defines malloc() for the whole process, so that allocations of the
 * libraries below ours fail, too. Each store has a child, whose death shows at
 * which allocation it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded_store.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/redis_server.h"
#include "support/test.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define OWN_MALLOC 0
#else
#define OWN_MALLOC 1
#endif

/* More allocations than the calls below need. */
#define ALLOCATIONS_MAX 20000
/* After this many, no call of the scenario needs another one. */
#define DESCRIPTORS_MAX 40
#define NAME "scarce"

/* In memory shared with the child: how far it came. */
typedef struct progress {
    long at;
    long done;
} progress;
static progress *shared;

/* -------------------------------------------------------------------- malloc
 */

/* How many more succeed; negative: all. */
static long left = -1;

#if OWN_MALLOC
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static bool must_fail(void)
{
    if (__atomic_load_n(&left, __ATOMIC_RELAXED) < 0)
        return false;
    if (__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) != 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return must_fail() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return must_fail() ? NULL : __libc_realloc(memory, size);
}
#endif

/* ------------------------------------------------------------------ scenario
 */

static hf_status first_bad(hf_status before, hf_status status)
{
    return before != HF_OK ? before : status;
}

static void on_done(void *user, hf_status status, const hf_error *err)
{
    (void)err;
    *(hf_status *)user = status;
}

/* A call that the loop thread completes. */
static hf_status set_on_the_loop(hf_client *client)
{
    static hf_status told;
    hf_async async = HF_ASYNC_INIT;
    struct pollfd ready = {.events = POLLIN};
    hf_status status = hf_client_fd(client, &ready.fd, NULL);

    told = HF_TIMEOUT;
    async.done = on_done;
    async.user = &told;
    if (status == HF_OK)
        status = hf_value_set_start(client, hf_str("k"), hf_str("v"), NULL,
                                    NULL, &async, NULL);
    if (status != HF_OK)
        return status;
    for (int i = 0; i < 100 && told == HF_TIMEOUT; i++) {
        (void)poll(&ready, 1, 100);
        status = hf_client_dispatch(client, NULL, NULL);
    }
    return first_bad(status, told);
}

/* The lock is held for a lease that the watchdog renews, and waited for. */
static hf_status lock_and_wait(hf_client *client)
{
    hf_lock *lock = NULL, *other = NULL;
    hf_status status = hf_lock_new(client, hf_str(NAME), NULL, &lock, NULL);

    if (status == HF_OK)
        status = hf_lock_acquire(lock, 0, NULL);
    if (status == HF_OK)
        status = hf_lock_new(client, hf_str(NAME), NULL, &other, NULL);
    if (status == HF_OK) {
        status = hf_lock_acquire(other, 1, NULL);
        status = status == HF_TIMEOUT ? HF_OK : status;
    }
    if (lock != NULL)
        status = first_bad(status, hf_lock_release(lock, NULL));
    hf_lock_free(other);
    hf_lock_free(lock);
    return status;
}

static hf_status do_all(const char *url)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;
    hf_status status;

    options.request_ms = 2000;
    status = hf_client_open(url, &options, &client, NULL);
    if (status != HF_OK)
        return status;
    status = hf_value_set(client, hf_str("k"), hf_str("v"), NULL, NULL, NULL);
    status = first_bad(status, lock_and_wait(client));
    status = first_bad(status, set_on_the_loop(client));
    hf_client_close(client);
    return status;
}

/* What was held is free again: by release, or by the end of its lease. */
static bool works(const char *url)
{
    hf_client *client = NULL;
    hf_status status = hf_client_open(url, NULL, &client, NULL);

    if (status == HF_OK)
        status = hf_lock_break(client, hf_str(NAME), NULL);
    hf_client_close(client);
    return (status == HF_OK || status == HF_NOT_FOUND) && do_all(url) == HF_OK;
}

/* ------------------------------------------------------------------ children
 */

static void run_child(const char *url, void (*what)(const char *url))
{
    int status;
    pid_t pid;

    *shared = (progress){0, 0};
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        what(url);
        _exit(0);
    }
    assert_int_equal(await_child(pid, &status), pid);
    if (status != 0)
        fail_msg("%s: status %#x at %ld", url, (unsigned)status, shared->at);
    print_message("%s: %ld\n", url, shared->done);
}

static void fail_each_allocation(const char *url)
{
    /* What stays for the process is created first: the script machine too. */
    hf_client *keeper = NULL;

    if (hf_client_open(url, NULL, &keeper, NULL) != HF_OK || !works(url))
        _exit(2);
    for (long at = 0; at < ALLOCATIONS_MAX; at++) {
        bool all;

        shared->at = at;
        __atomic_store_n(&left, at, __ATOMIC_RELAXED);
        (void)do_all(url);
        all = __atomic_exchange_n(&left, -1, __ATOMIC_RELAXED) >= 0;
        if (at % 16 == 0 && !works(url))
            _exit(3);
        if (all)
            break;
        shared->done++;
    }
    hf_client_close(keeper);
}

static int highest_descriptor(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

static void fail_each_descriptor(const char *url)
{
    struct rlimit before, low;
    int first = highest_descriptor();

    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        _exit(2);
    for (int spare = 0; spare < DESCRIPTORS_MAX; spare++) {
        hf_status status;

        shared->at = spare;
        low = before;
        low.rlim_cur = (rlim_t)(first + spare);
        if (setrlimit(RLIMIT_NOFILE, &low) != 0)
            _exit(2);
        status = do_all(url);
        if (setrlimit(RLIMIT_NOFILE, &before) != 0 ||
            (spare == 0 && status == HF_OK) || !works(url))
            _exit(3);
        if (status == HF_OK)
            return;
        shared->done++;
    }
    _exit(4); /* what it needs at most was not found */
}

/* --------------------------------------------------------------------- tests
 */

static redis_server *server;

static void put_kept(const char *url)
{
    hf_client *client = NULL;

    assert_int_equal(hf_client_open(url, NULL, &client, NULL), HF_OK);
    assert_int_equal(
        hf_value_set(client, hf_str("kept"), hf_str("k"), NULL, NULL, NULL),
        HF_OK);
    hf_client_close(client);
}

static void expect_kept(const char *url)
{
    hf_client *client = NULL;
    hf_buffer value = HF_BUFFER_INIT;

    assert_int_equal(hf_client_open(url, NULL, &client, NULL), HF_OK);
    assert_int_equal(hf_value_get(client, hf_str("kept"), &value, NULL), HF_OK);
    hf_buffer_free(&value);
    hf_client_close(client);
}

/* Who cannot open a store does not begin a new one in its place. */
static void with_each_store(void (*what)(const char *url))
{
    static const char *const forms[][2] = {{"volatile", ""},
                                           {"file", "?durability=log"}};
    place at;

    for (size_t i = 0; i < 2; i++) {
        make_place(&at, forms[i][0], forms[i][1]);
        put_kept(at.url);
        run_child(at.url, what);
        expect_kept(at.url);
        remove_place(&at);
    }
    if (server != NULL)
        run_child(redis_server_unix_url(server), what);
}

TEST(each_allocation_may_fail_once)
{
    if (!OWN_MALLOC) {
        print_message("the sanitizer has malloc() for itself\n");
        skip();
    }
    with_each_store(fail_each_allocation);
}

TEST(descriptors_may_run_out_anywhere)
{
    with_each_store(fail_each_descriptor);
}

static int set_up(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    server = redis_server_start(NULL);
    return shared == MAP_FAILED;
}

static int tear_down(void **state)
{
    (void)state;
    redis_server_stop(server);
    return 0;
}

ALL_TESTS_WITH(set_up, tear_down);
