/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_life_test.c - what a program may do with asynchronous calls and their
 * client at any time: close it, dispatch on several threads, start more than
 * there is room for, receive signals.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* A call that is under way, or ended with a status that the caller can act on.
 */
static bool is_clear(hf_status status)
{
    return status == HF_OK || status == HF_UNAVAILABLE ||
           status == HF_INDETERMINATE;
}

/* ------------------------------------------------------------------ chains */

typedef struct chain {
    hf_client *client;
    hf_bytes key;
    unsigned left;
    told last;
} chain;

static void set_next(void *user, hf_status status, const hf_error *err)
{
    chain *self = user;
    hf_async async = HF_ASYNC_INIT;

    (void)err;
    if (status != HF_OK || --self->left == 0) {
        self->last.count = 1;
        self->last.status = status;
        return;
    }
    async.done = set_next;
    async.user = self;
    self->last.status = hf_value_set_start(self->client, self->key, bytes("v"),
                                           NULL, NULL, &async, NULL);
    if (self->last.status != HF_OK)
        self->last.count = 1;
}

TEST(async_done_may_start_the_next)
{
    fixture *f = *state;
    static chain links;

    links = (chain){f->client, fixture_key(f, "k"), 100, {0}};
    set_next(&links, HF_OK, NULL);
    await_told(f->client, &links.last, 1);
    expect_status(HF_OK, links.last.status);
}

/* ------------------------------------------------------------------ closing */

#define UNDER_WAY 1000

/* Completed on several threads. */
typedef struct tally {
    atomic_uint told[UNDER_WAY];
    atomic_uint count;
    atomic_uint unclear;
    hf_client *closes; /* by the first callback; NULL: by none */
    atomic_uint late;  /* starts that close() let its callbacks make */
} tally;

typedef struct tally_place {
    tally *all;
    unsigned number;
} tally_place;

static void count_one(void *user, hf_status status, const hf_error *err)
{
    const tally_place *place = user;
    tally *all = place->all;

    (void)err;
    atomic_fetch_add(&all->told[place->number], 1);
    atomic_fetch_add(&all->unclear, is_clear(status) ? 0 : 1);
    atomic_fetch_add(&all->count, 1);
}

static void start_a_thousand(hf_client *client, hf_bytes key, tally *all,
                             tally_place *places, hf_done_fn done)
{
    hf_async async = HF_ASYNC_INIT;

    async.done = done;
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        places[i] = (tally_place){all, i};
        async.user = &places[i];
        expect_status(HF_OK, hf_value_set_start(client, key, bytes("v"), NULL,
                                                NULL, &async, ERR));
    }
}

static void expect_each_completed_once(tally *all)
{
    assert_int_equal(atomic_load(&all->count), UNDER_WAY);
    assert_int_equal(atomic_load(&all->unclear), 0);
    for (unsigned i = 0; i < UNDER_WAY; i++)
        assert_int_equal(atomic_load(&all->told[i]), 1);
}

TEST(async_close_completes_what_is_under_way)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    static tally_place places[UNDER_WAY];
    tally *all = calloc(1, sizeof(*all));

    assert_non_null(all);
    start_a_thousand(client, fixture_key(f, "k"), all, places, count_one);
    fixture_close_client(f, client);
    expect_each_completed_once(all);
    free(all);
}

static void *close_client(void *user)
{
    hf_client_close(user);
    return NULL;
}

static hf_client *own_client(fixture *f)
{
    hf_client *client = NULL;

    expect_status(HF_OK, hf_client_open(f->url, NULL, &client, ERR));
    return client;
}

TEST(async_close_on_another_thread_completes_each_once)
{
    fixture *f = *state;
    static tally_place places[UNDER_WAY];
    tally *all = calloc(1, sizeof(*all));
    hf_client *client = own_client(f);
    pthread_t thread;

    assert_non_null(all);
    start_a_thousand(client, fixture_key(f, "k"), all, places, count_one);
    assert_int_equal(pthread_create(&thread, NULL, close_client, client), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_each_completed_once(all);
    free(all);
}

/* The first callback closes the client; those that the close completes try to
 * start another call, and to close again. */
static void close_and_count(void *user, hf_status status, const hf_error *err)
{
    const tally_place *place = user;
    tally *all = place->all;
    hf_client *client = all->closes;
    hf_async async = HF_ASYNC_INIT;
    bool first = atomic_load(&all->count) == 0;

    count_one(user, status, err);
    async.done = count_one;
    async.user = user;
    if (first) {
        hf_client_close(client);
        return;
    }
    if (hf_value_set_start(client, bytes("late"), bytes("v"), NULL, NULL,
                           &async, NULL) != HF_INVALID ||
        hf_value_set(client, bytes("late"), bytes("v"), NULL, NULL, NULL) !=
            HF_INVALID ||
        hf_client_dispatch(client, NULL, NULL) != HF_INVALID)
        atomic_fetch_add(&all->late, 1);
    hf_client_close(client);
}

TEST(async_done_may_close_the_client)
{
    fixture *f = *state;
    static tally_place places[UNDER_WAY];
    tally *all = calloc(1, sizeof(*all));
    hf_client *client = own_client(f);
    struct pollfd pfd = {.events = POLLIN};
    size_t running = 99;

    assert_non_null(all);
    all->closes = client;
    start_a_thousand(client, fixture_key(f, "k"), all, places, close_and_count);
    expect_status(HF_OK, hf_client_fd(client, &pfd.fd, ERR));
    assert_int_equal(poll(&pfd, 1, 10000), 1);
    expect_status(HF_OK, hf_client_dispatch(client, &running, ERR));
    assert_int_equal(running, 0);
    expect_each_completed_once(all);
    assert_int_equal(atomic_load(&all->late), 0);
    free(all);
}

/* ------------------------------------------------------------- dispatching */

typedef struct dispatcher {
    hf_client *client;
    tally *all;
    atomic_bool *stop;
    unsigned failures;
} dispatcher;

static void *dispatch_until_all(void *user)
{
    dispatcher *self = user;
    struct pollfd pfd = {.events = POLLIN};

    if (hf_client_fd(self->client, &pfd.fd, NULL) != HF_OK)
        self->failures++;
    while (!atomic_load(self->stop)) {
        (void)poll(&pfd, 1, 10);
        if (hf_client_dispatch(self->client, NULL, NULL) != HF_OK)
            self->failures++;
    }
    return NULL;
}

#define DISPATCHERS 4

TEST(async_threads_may_dispatch_at_once)
{
    fixture *f = *state;
    static tally_place places[UNDER_WAY];
    tally *all = calloc(1, sizeof(*all));
    dispatcher dispatchers[DISPATCHERS];
    pthread_t threads[DISPATCHERS];
    atomic_bool stop = false;
    size_t running = 1;

    assert_non_null(all);
    for (size_t i = 0; i < DISPATCHERS; i++) {
        dispatchers[i] = (dispatcher){f->client, all, &stop, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, dispatch_until_all,
                                        &dispatchers[i]),
                         0);
    }
    start_a_thousand(f->client, fixture_key(f, "k"), all, places, count_one);
    expect_soon(atomic_load(&all->count) == UNDER_WAY, 10000);
    atomic_store(&stop, true);
    for (size_t i = 0; i < DISPATCHERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(dispatchers[i].failures, 0);
    }
    expect_status(HF_OK, hf_client_dispatch(f->client, &running, ERR));
    assert_int_equal(running, 0);
    expect_each_completed_once(all);
    free(all);
}

/* Readable once for each completion, then quiet: a program that polls does not
 * spin, even while a call waits. */
TEST(async_descriptor_is_quiet_when_idle)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->other, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->client, name, NULL);
    told said = {0};
    hf_async async = tell(&said);
    struct pollfd pfd = {.events = POLLIN};

    expect_status(HF_OK, hf_client_fd(f->client, &pfd.fd, ERR));
    expect_status(HF_OK, hf_lock_try(holder, ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    assert_int_equal(poll(&pfd, 1, 300), 0);
    dispatch(f->client);
    assert_int_equal(poll(&pfd, 1, 100), 0);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    assert_int_equal(poll(&pfd, 1, 10000), 1);
    assert_int_equal(said.count, 0);
    dispatch(f->client);
    assert_int_equal(said.count, 1);
    assert_int_equal(poll(&pfd, 1, 300), 0);
}

/* Each completion is an edge, or precedes the dispatch that an edge asked for:
 * an edge-triggered loop misses nothing. */
TEST(async_descriptor_may_be_edge_triggered)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    chain links[4];
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    unsigned done = 0;
    int got;
    int fd;

    assert_true(epoll_fd >= 0);
    expect_status(HF_OK, hf_client_fd(f->client, &fd, ERR));
    assert_int_equal(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event), 0);
    for (size_t i = 0; i < 4; i++) {
        links[i] = (chain){f->client, key, 200, {0}};
        set_next(&links[i], HF_OK, NULL);
    }
    while (done < 4) {
        /* The end of a thread may interrupt. */
        do
            got = epoll_wait(epoll_fd, &event, 1, 10000);
        while (got < 0 && errno == EINTR);
        assert_int_equal(got, 1);
        dispatch(f->client);
        done = 0;
        for (size_t i = 0; i < 4; i++)
            done += links[i].last.count;
    }
    (void)close(epoll_fd);
    for (size_t i = 0; i < 4; i++)
        expect_status(HF_OK, links[i].last.status);
}

/* ------------------------------------------------------------------ bounds */

TEST(async_calls_are_bounded_in_number)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options kept = HF_LOCK_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    told said = {0};
    hf_async async = tell(&said);
    hf_client *client;
    hf_lock *lock;

    options.max_calls = 10;
    kept.flags = HF_LOCK_NO_RENEW;
    client = fixture_client(f, &options);
    lock = fixture_lock(f, client, fixture_key(f, "l"), &kept);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    for (unsigned i = 0; i < 10; i++)
        expect_status(HF_OK, hf_value_set_start(client, key, bytes("v"), NULL,
                                                NULL, &async, ERR));
    expect_status(HF_UNAVAILABLE, hf_value_set_start(client, key, bytes("v"),
                                                     NULL, NULL, &async, ERR));
    assert_non_null(strstr(expect_message(), "max_calls"));
    expect_status(HF_UNAVAILABLE, hf_lock_acquire_start(lock, 0, &async, ERR));
    /* Calls that free others are let through. */
    expect_status(HF_OK, hf_lock_renew_start(lock, &async, ERR));
    expect_status(HF_OK, hf_lock_release_start(lock, &async, ERR));
    await_told(client, &said, 12);
    expect_status(HF_OK, said.status);
    expect_status(HF_OK, hf_value_set_start(client, key, bytes("v"), NULL, NULL,
                                            &async, ERR));
    await_told(client, &said, 13);
}

TEST(async_chain_needs_one_slot_only)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    chain links = {NULL, fixture_key(f, "k"), 20, {0}};

    options.max_calls = 1;
    links.client = fixture_client(f, &options);
    set_next(&links, HF_OK, NULL);
    await_told(links.client, &links.last, 1);
    expect_status(HF_OK, links.last.status);
}

TEST(async_calls_are_bounded_in_bytes)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    static char big[100000];
    hf_bytes value = hf_view(big, sizeof(big));
    told said = {0};
    hf_async async = tell(&said);
    hf_client *client;

    options.max_call_bytes = 150000;
    client = fixture_client(f, &options);
    expect_status(
        HF_OK, hf_value_set_start(client, key, value, NULL, NULL, &async, ERR));
    expect_status(HF_UNAVAILABLE, hf_value_set_start(client, key, value, NULL,
                                                     NULL, &async, ERR));
    assert_non_null(strstr(expect_message(), "max_call_bytes"));
    expect_status(HF_OK, hf_value_set_start(client, key, bytes("v"), NULL, NULL,
                                            &async, ERR));
    await_told(client, &said, 2);
}

/* Replies count, too, until they are dispatched. */
TEST(async_answers_are_bounded_in_bytes)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    static char big[100000];
    struct pollfd pfd = {.events = POLLIN};
    hf_buffer got = HF_BUFFER_INIT;
    told said = {0};
    hf_async async = tell(&said);
    hf_client *client;

    options.max_call_bytes = 50000;
    client = fixture_client(f, &options);
    put_value(client, key, hf_view(big, sizeof(big)), 0);
    expect_status(HF_OK, hf_client_fd(client, &pfd.fd, ERR));
    expect_status(HF_OK, hf_value_get_start(client, key, &got, &async, ERR));
    assert_int_equal(poll(&pfd, 1, 10000), 1);
    expect_status(HF_UNAVAILABLE, hf_value_set_start(client, key, bytes("v"),
                                                     NULL, NULL, &async, ERR));
    await_told(client, &said, 1);
    assert_int_equal(got.size, sizeof(big));
    hf_buffer_free(&got);
    expect_status(HF_OK, hf_value_set_start(client, key, bytes("v"), NULL, NULL,
                                            &async, ERR));
    await_told(client, &said, 2);
}

/* A single one may have any size. */
TEST(async_call_alone_may_be_large)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    static char big[100000];
    hf_client *client;

    options.max_call_bytes = 1;
    client = fixture_client(f, &options);
    for (int i = 0; i < 3; i++)
        expect_told(HF_OK, client,
                    hf_value_set_start(client, key, hf_view(big, sizeof(big)),
                                       NULL, NULL, &async, ERR));
}

TEST(async_bounds_have_a_range)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;

    options.max_calls = 1000001;
    expect_status(HF_INVALID, hf_client_open(f->url, &options, &client, ERR));
    options.max_calls = -1;
    expect_status(HF_INVALID, hf_client_open(f->url, &options, &client, ERR));
    options.max_calls = 0;
    options.max_call_bytes = -1;
    expect_status(HF_INVALID, hf_client_open(f->url, &options, &client, ERR));
    assert_null(client);
}

/* ----------------------------------------------------------------- signals */

static atomic_uint interruptions;

static void note_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(&interruptions, 1);
}

/* A signal each millisecond, whose handler is installed without SA_RESTART. */
static void disturb(bool on)
{
    struct itimerval often = {{0, on ? 1000 : 0}, {0, on ? 1000 : 0}};
    struct sigaction action = {.sa_handler = note_signal};

    (void)sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
}

static int stop_disturbing(void **state)
{
    disturb(false);
    return fixture_close(state);
}

TEST_WITH(calls_survive_signals, fixture_open, stop_disturbing)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->other, name, NULL);
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_client *client = NULL;

    expect_status(HF_OK, hf_lock_try(holder, ERR));
    disturb(true);
    expect_status(HF_TIMEOUT, hf_lock_acquire(lock, 200, ERR));
    for (int i = 0; i < 100; i++) {
        put_value(f->client, key, bytes("v"), 0);
        assert_value(f->client, key, bytes("v"));
        expect_told(HF_OK, f->client,
                    hf_value_set_start(f->client, key, bytes("w"), NULL, NULL,
                                       &async, ERR));
    }
    expect_status(HF_OK, hf_client_open(f->url, NULL, &client, ERR));
    hf_client_close(client);
    disturb(false);
    assert_true(atomic_load(&interruptions) > 10);
}

/* With its default action the signal would end the program. */
TEST(broken_connections_raise_no_signal)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    fixture_only_redis(f);
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    for (int i = 0; i < 20; i++) {
        told said = {0};
        hf_async async = tell(&said);

        put_value(f->client, key, bytes("v"), 0);
        expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("w"),
                                                NULL, NULL, &async, ERR));
        (void)fixture_server_command(f, "CLIENT KILL TYPE normal");
        expect_soon(
            hf_value_set(f->client, key, bytes("v"), NULL, NULL, NULL) == HF_OK,
            5000);
        await_told(f->client, &said, 1);
        assert_true(is_clear(said.status));
    }
}

/* ------------------------------------------------------------------ waiting */

TEST(wait_ends_when_a_call_has_completed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *theirs = fixture_lock(f, f->other, name, NULL);
    hf_lock *ours = fixture_lock(f, f->client, name, NULL);
    told acquired = {0};
    hf_async async = tell(&acquired);

    expect_status(HF_INVALID, hf_client_wait(f->client, -1, ERR));
    expect_status(HF_TIMEOUT, hf_client_wait(f->client, 0, ERR));
    expect_status(HF_OK, hf_lock_try(theirs, ERR));
    expect_status(HF_OK, hf_lock_acquire_start(ours, 60000, &async, ERR));
    expect_status(HF_TIMEOUT, hf_client_wait(f->client, 50, ERR));
    expect_status(HF_OK, hf_lock_release(theirs, ERR));
    expect_status(HF_OK, hf_client_wait(f->client, HF_FOREVER, ERR));
    assert_int_equal(acquired.count, 0); /* it dispatches nothing */
    expect_status(HF_OK, hf_client_wait(f->client, 0, ERR));
    dispatch(f->client);
    assert_int_equal(acquired.count, 1);
    expect_status(HF_OK, acquired.status);
    expect_status(HF_TIMEOUT, hf_client_wait(f->client, 0, ERR));
    expect_status(HF_OK, hf_lock_release(ours, ERR));
}

TEST(wait_is_interrupted)
{
    fixture *f = *state;
    pthread_t thread;
    void *fine = NULL;

    pthread_create(&thread, NULL, interrupt_soon, f->client);
    expect_status(HF_CANCELLED, hf_client_wait(f->client, HF_FOREVER, ERR));
    pthread_join(thread, &fine);
    assert_non_null(fine);
}

static void *wait_long(void *client)
{
    return (void *)(intptr_t)hf_client_wait(client, HF_FOREVER, NULL);
}

/* HF_INVALID: it began after the close. */
TEST(wait_ends_when_the_client_is_closed)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_lock *keeps = fixture_lock(f, client, fixture_key(f, "l"), NULL);
    pthread_t threads[3];
    void *status;

    (void)keeps;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, wait_long, client);
    for (int i = 0; i < 20; i++)
        test_rest();
    fixture_close_client(f, client);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &status);
        assert_true((intptr_t)status == HF_CANCELLED ||
                    (intptr_t)status == HF_INVALID);
    }
}
