/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_reader_test.c - replies that are read by the thread that waits for them
 * (pipeline_reader.c), and what it leaves to the loop thread.
 */
#include "redis_driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/redis/server/pipeline_internal.h"
#include "store/redis/topology/single_server.h"
#include "support/asleep.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "util/container.h"
#include "util/event_fd.h"

/* A request, and the thread that waits for it. */
typedef struct reading {
    test_call call;
    test_driver *driver;
    int fd; /* of all, as a store may raise it until it is closed */
    pthread_t reader;
    bool by_reader; /* on_done ran on its thread */
    bool is_quiet;  /* on_done does not raise `fd` */
    atomic_int tid; /* of a thread that begins to wait; 0: none */
} reading;

static int descriptor = -1;

static void note_done(hf__request *request)
{
    test_call *call = request->user;
    reading *self = hf__container_of(call, reading, call);

    self->by_reader = pthread_equal(pthread_self(), self->reader);
    if (!self->by_reader && !self->is_quiet)
        hf__event_fd_raise(self->fd);
    call_done(request);
}

static void submit_reading(reading *self, const char *key, int64_t limit_ms)
{
    CALL(&self->call, limit_ms, "GET", key);
    self->reader = pthread_self();
    self->by_reader = false;
    atomic_store(&self->tid, 0);
    self->call.request.any_thread = true;
    self->call.request.on_done = note_done;
    call_submit(self->driver, &self->call);
}

static void reading_submit(reading *self, test_driver *driver, const char *key,
                           int64_t limit_ms)
{
    self->driver = driver;
    self->is_quiet = false;
    if (descriptor < 0)
        descriptor = hf__event_fd_new();
    assert_true(descriptor >= 0);
    hf__event_fd_lower(descriptor);
    self->fd = descriptor;
    submit_reading(self, key, limit_ms);
}

static bool is_done(const reading *self)
{
    return __atomic_load_n(&self->call.done, __ATOMIC_SEQ_CST) != 0;
}

static bool await_once(reading *self, int64_t wait_ms)
{
    return self->driver->store->ops->await(self->driver->store, self->fd,
                                           hf__clock_boot_ms() + wait_ms);
}

/* As hf_client_wait() does. */
static hf_status reading_wait(reading *self)
{
    while (!is_done(self) && await_once(self, ENOUGH_MS))
        continue;
    return call_wait(&self->call);
}

/* A server that does what the key of a GET says; "later": once it is let;
 * "cut": the first time. */
typedef struct obeying_server {
    fake_server *fake;
    test_driver driver;
    uint32_t may; /* futex */
    atomic_uint received;
    atomic_bool has_cut;
} obeying_server;

static void await_leave(obeying_server *self)
{
    while (__atomic_load_n(&self->may, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&self->may, 0, INT64_MAX, false);
}

static void let_server_go(obeying_server *self)
{
    __atomic_store_n(&self->may, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->may, false);
}

static bool say_large(int fd)
{
    static char text[300000];

    memset(text, 'x', sizeof(text) - 1);
    return fake_server_say(fd, "$299999\r\n") && fake_server_say(fd, text) &&
           fake_server_say(fd, "\r\n");
}

static bool obey(obeying_server *self, int fd, const char *key)
{
    if (strcmp(key, "error") == 0)
        return fake_server_say(fd, "-ERR no\r\n");
    if (strcmp(key, "script") == 0)
        return fake_server_say(fd, "-LOADING Redis is loading\r\n");
    if (strcmp(key, "refuse") == 0) {
        /* The other thread waits by then. */
        hf__clock_sleep_until(hf__clock_boot_ms() + 4);
        return fake_server_say(fd, "-READONLY no\r\n");
    }
    if (strcmp(key, "large") == 0)
        return say_large(fd);
    if (strcmp(key, "end") == 0)
        return false;
    if (strcmp(key, "nonsense") == 0)
        return fake_server_say(fd, "?\r\n");
    if (strcmp(key, "twice") == 0)
        return fake_server_say(fd, "+one\r\n+two\r\n");
    if (strcmp(key, "half") == 0) {
        if (!fake_server_say(fd, "+o"))
            return false;
        await_leave(self);
        return fake_server_say(fd, "k\r\n");
    }
    if (strcmp(key, "cut") == 0 && !atomic_exchange(&self->has_cut, true)) {
        await_leave(self);
        return false;
    }
    if (strcmp(key, "later") == 0)
        await_leave(self);
    return fake_server_say(fd, "+ok\r\n");
}

static void serve(int fd, unsigned number, void *user)
{
    obeying_server *self = user;
    char text[400];

    (void)number;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        atomic_fetch_add(&self->received, 1);
        if (!obey(self, fd, strrchr(text, ' ') + 1))
            return;
    }
}

static void connect_idle(obeying_server *self)
{
    test_call call;

    CALL(&call, ENOUGH_MS, "GET", "ok");
    call_submit(&self->driver, &call);
    assert_int_equal(call_wait(&call), HF_OK);
    call_end(&call);
    hf__loop_call(self->driver.loop, NULL);
}

/* With a shared connection that is up and idle. */
static void obeying_open(obeying_server *self)
{
    memset(self, 0, sizeof(*self));
    self->fake = fake_server_start(serve, self);
    assert_non_null(self->fake);
    driver_open(&self->driver, fake_server_url(self->fake));
    connect_idle(self);
}

static void obeying_close(obeying_server *self)
{
    let_server_go(self);
    driver_close(&self->driver);
    fake_server_stop(self->fake);
}

/* ------------------------------------------------------ on the own thread */

/* The loop thread is held up: it neither sends nor reads. */
TEST(reply_is_read_by_the_thread_that_waits)
{
    obeying_server self;
    hold_up how;
    reading reads;

    obeying_open(&self);
    hold_loop(self.driver.loop, &how);
    for (int i = 0; i < 3; i++) {
        reading_submit(&reads, &self.driver, "ok", ENOUGH_MS);
        assert_int_equal(reading_wait(&reads), HF_OK);
        assert_text(&reads.call, "ok");
        assert_true(reads.by_reader);
        call_end(&reads.call);
    }
    let_loop_go(&how);
    connect_idle(&self);
    obeying_close(&self);
}

TEST(only_a_request_that_allows_it_is_read_elsewhere)
{
    obeying_server self;
    reading reads;

    obeying_open(&self);
    reading_submit(&reads, &self.driver, "ok", ENOUGH_MS);
    assert_int_equal(reading_wait(&reads), HF_OK);
    call_end(&reads.call);
    assert_false(await_once(&reads, ENOUGH_MS)); /* nothing is under way */
    CALL(&reads.call, ENOUGH_MS, "GET", "later");
    call_submit(&self.driver, &reads.call);
    assert_false(await_once(&reads, ENOUGH_MS));
    let_server_go(&self);
    assert_int_equal(call_wait(&reads.call), HF_OK);
    call_end(&reads.call);
    obeying_close(&self);
}

/* ------------------------------------------------------- by the loop thread */

static void expect_by_loop(obeying_server *self, const char *key,
                           hf_status status)
{
    reading reads;

    reading_submit(&reads, &self->driver, key, ENOUGH_MS);
    assert_int_equal(reading_wait(&reads), status);
    assert_false(reads.by_reader);
    call_end(&reads.call);
    connect_idle(self);
}

TEST(reply_in_parts_is_completed_by_the_loop_thread)
{
    obeying_server self;
    hold_up how;
    reading reads;

    obeying_open(&self);
    expect_by_loop(&self, "large", HF_OK);
    hold_loop(self.driver.loop, &how);
    reading_submit(&reads, &self.driver, "half", ENOUGH_MS);
    while (await_once(&reads, ENOUGH_MS)) /* until it has read the first */
        continue;
    assert_false(is_done(&reads));
    let_server_go(&self);
    let_loop_go(&how);
    assert_int_equal(call_wait(&reads.call), HF_OK);
    assert_text(&reads.call, "ok");
    call_end(&reads.call);
    obeying_close(&self);
}

TEST(error_is_completed_by_the_loop_thread)
{
    obeying_server self;
    hold_up how;
    reading reads;

    obeying_open(&self);
    expect_by_loop(&self, "error", HF_INVALID);
    hold_loop(self.driver.loop, &how);
    reading_submit(&reads, &self.driver, "error", ENOUGH_MS);
    while (await_once(&reads, ENOUGH_MS))
        continue;
    let_loop_go(&how);
    assert_int_equal(call_wait(&reads.call), HF_INVALID);
    assert_string_equal(reads.call.request.error.message, "no");
    call_end(&reads.call);
    connect_idle(&self);
    obeying_close(&self);
}

/* It is sent again until its deadline. */
TEST(request_that_the_server_puts_off_is_sent_again)
{
    obeying_server self;
    reading reads;

    obeying_open(&self);
    reading_submit(&reads, &self.driver, "script", slowed_ms(300));
    assert_int_equal(reading_wait(&reads), HF_UNAVAILABLE);
    assert_in_range(atomic_load(&self.received), 3, 1000);
    call_end(&reads.call);
    connect_idle(&self);
    obeying_close(&self);
}

/* The connection is dropped, whichever thread reads. */
TEST(connection_that_ends_or_fails_is_remade)
{
    obeying_server self;
    hold_up how;
    reading reads;

    obeying_open(&self);
    for (int held = 0; held < 2; held++) {
        if (held != 0)
            hold_loop(self.driver.loop, &how);
        reading_submit(&reads, &self.driver, "end", slowed_ms(500));
        while (held != 0 && await_once(&reads, ENOUGH_MS))
            continue;
        if (held != 0)
            let_loop_go(&how);
        (void)reading_wait(&reads); /* the server ends each that is made */
        call_end(&reads.call);
        connect_idle(&self);
    }
    obeying_close(&self);
}

static void read_refusal(obeying_server *self)
{
    reading reads;

    reading_submit(&reads, &self->driver, "refuse", ENOUGH_MS);
    while (!is_done(&reads)) {
        if (!await_once(&reads, ENOUGH_MS)) /* not connected */
            hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
    assert_int_equal(call_wait(&reads.call), HF_UNAVAILABLE);
    call_end(&reads.call);
}

/* Each refusal drops the connection, and the next waits 20 ms or more. */
TEST(server_that_refuses_is_not_reconnected_to_without_a_pause)
{
    enum { REFUSALS = 8 };
    obeying_server self;
    int64_t begin_ms;

    obeying_open(&self);
    begin_ms = hf__clock_boot_ms();
    for (int i = 0; i < REFUSALS; i++)
        read_refusal(&self);
    assert_in_range(hf__clock_boot_ms() - begin_ms, (REFUSALS - 2) * 20,
                    ENOUGH_MS);
    assert_in_range(fake_server_count(self.fake), REFUSALS, REFUSALS + 2);
    connect_idle(&self);
    obeying_close(&self);
}

TEST(nonsense_drops_the_connection)
{
    obeying_server self;
    hold_up how;
    reading reads;
    unsigned connections;

    obeying_open(&self);
    connections = fake_server_count(self.fake);
    expect_by_loop(&self, "nonsense", HF_CORRUPT);
    assert_int_equal(fake_server_count(self.fake), connections + 1);
    hold_loop(self.driver.loop, &how);
    reading_submit(&reads, &self.driver, "twice", ENOUGH_MS);
    assert_int_equal(reading_wait(&reads), HF_OK);
    assert_text(&reads.call, "one");
    let_loop_go(&how);
    call_end(&reads.call);
    connect_idle(&self);
    assert_int_equal(fake_server_count(self.fake), connections + 2);
    obeying_close(&self);
}

/* ------------------------------------------------------ while another waits */

static void *wait_on_thread(void *user)
{
    reading *self = user;

    atomic_store(&self->tid, gettid());
    (void)reading_wait(self);
    return NULL;
}

static void start_waiting(reading *self, pthread_t *thread)
{
    assert_int_equal(pthread_create(thread, NULL, wait_on_thread, self), 0);
    await_asleep(&self->tid);
}

typedef struct count_task {
    hf__task task;
    long switches;
} count_task;

static void run_count(hf__task *task)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    ((count_task *)task)->switches = usage.ru_nvcsw;
}

/* How often the loop thread has slept. */
static long count_sleeps(obeying_server *self)
{
    count_task count = {.task = {.run = run_count}};

    hf__loop_call(self->driver.loop, &count.task);
    return count.switches;
}

/* Not in all rounds, as on a busy machine the other may begin to wait too late.
 */
TEST(loop_thread_does_not_wake_for_what_another_reads)
{
    obeying_server self;
    pthread_t thread;
    reading reads;
    long before;

    obeying_open(&self);
    before = count_sleeps(&self);
    for (int i = 0; i < 20; i++) {
        __atomic_store_n(&self.may, 0, __ATOMIC_RELEASE);
        reading_submit(&reads, &self.driver, "later", ENOUGH_MS);
        start_waiting(&reads, &thread);
        let_server_go(&self);
        pthread_join(thread, NULL);
        assert_int_equal(reads.call.request.status, HF_OK);
        call_end(&reads.call);
    }
    assert_in_range(count_sleeps(&self) - before, 0, 15);
    obeying_close(&self);
}

TEST(deadline_ends_a_wait)
{
    obeying_server self;
    int64_t limit_ms = slowed_ms(50), begin_ms = hf__clock_boot_ms();
    reading reads;

    obeying_open(&self);
    begin_ms = hf__clock_boot_ms();
    reading_submit(&reads, &self.driver, "later", limit_ms);
    assert_int_equal(reading_wait(&reads), HF_INDETERMINATE);
    assert_took(hf__clock_boot_ms() - begin_ms, limit_ms, limit_ms + 200);
    call_end(&reads.call);
    let_server_go(&self);
    connect_idle(&self);
    obeying_close(&self);
}

typedef struct cancel_task {
    hf__task task;
    reading *reads;
} cancel_task;

static void run_cancel(hf__task *task)
{
    reading *reads = ((cancel_task *)task)->reads;
    hf__store *store = reads->driver->store;

    store->ops->cancel(store, &reads->call.request);
}

TEST(cancellation_ends_a_wait)
{
    obeying_server self;
    pthread_t thread;
    reading reads;
    cancel_task cancel = {{.run = run_cancel}, &reads};

    obeying_open(&self);
    reading_submit(&reads, &self.driver, "later", ENOUGH_MS);
    start_waiting(&reads, &thread);
    hf__loop_call(self.driver.loop, &cancel.task);
    pthread_join(thread, NULL);
    assert_int_equal(reads.call.request.status, HF_INDETERMINATE);
    assert_false(reads.by_reader);
    call_end(&reads.call);
    let_server_go(&self);
    connect_idle(&self);
    obeying_close(&self);
}

static void *await_on_thread(void *user)
{
    reading *self = user;

    atomic_store(&self->tid, gettid());
    return await_once(self, ENOUGH_MS) ? user : NULL;
}

/* It is the loop thread's from then on: no other polls a socket that it may
 * close. */
TEST(another_request_ends_the_reading)
{
    obeying_server self;
    pthread_t thread;
    reading reads;
    test_call call;
    void *ended;

    obeying_open(&self);
    reading_submit(&reads, &self.driver, "later", ENOUGH_MS);
    assert_int_equal(pthread_create(&thread, NULL, await_on_thread, &reads), 0);
    await_asleep(&reads.tid);
    CALL(&call, ENOUGH_MS, "GET", "ok");
    call_submit(&self.driver, &call);
    pthread_join(thread, &ended);
    assert_non_null(ended);
    assert_false(is_done(&reads));
    assert_false(await_once(&reads, ENOUGH_MS));
    let_server_go(&self);
    assert_int_equal(call_wait(&call), HF_OK);
    assert_int_equal(reading_wait(&reads), HF_OK);
    call_end(&reads.call);
    call_end(&call);
    obeying_close(&self);
}

/* What ended the last reading does not end the next at once. */
TEST(descriptor_is_lowered)
{
    obeying_server self;
    int64_t begin_ms;
    reading reads;
    test_call call;
    pthread_t thread;

    obeying_open(&self);
    reading_submit(&reads, &self.driver, "later", ENOUGH_MS);
    reads.is_quiet = true;
    assert_int_equal(pthread_create(&thread, NULL, await_on_thread, &reads), 0);
    await_asleep(&reads.tid);
    CALL(&call, ENOUGH_MS, "GET", "ok");
    call_submit(&self.driver, &call);
    pthread_join(thread, NULL);
    let_server_go(&self);
    (void)call_wait(&call);
    call_end(&call);
    assert_int_equal(call_wait(&reads.call), HF_OK);
    call_end(&reads.call);
    hf__loop_call(self.driver.loop, NULL);
    __atomic_store_n(&self.may, 0, __ATOMIC_RELEASE);
    submit_reading(&reads, "later", ENOUGH_MS);
    (void)await_once(&reads, 1); /* it may have been lowered too early */
    begin_ms = hf__clock_boot_ms();
    assert_true(await_once(&reads, 50));
    assert_in_range(hf__clock_boot_ms() - begin_ms, 50, ENOUGH_MS);
    let_server_go(&self);
    assert_int_equal(call_wait(&reads.call), HF_OK);
    call_end(&reads.call);
    obeying_close(&self);
}

typedef struct own_task {
    hold_up how; /* first */
    hf__pipeline *pipe;
} own_task;

static void run_own(hf__task *task)
{
    own_task *self = (own_task *)task;

    hf__pipeline_begin(self->pipe);
    run_hold_up(task);
    hf__pipeline_end(self->pipe);
}

/* It leaves while the loop thread owns the connection. */
TEST(reader_does_not_wait_for_the_loop_thread)
{
    obeying_server self;
    own_task owns = {.how = {.task = {.run = run_own}}};
    reading reads;
    pthread_t thread;
    void *ended;

    obeying_open(&self);
    owns.pipe = &((hf__single_server *)self.driver.store)->server->pipeline;
    reading_submit(&reads, &self.driver, "later", ENOUGH_MS);
    reads.is_quiet = true;
    assert_int_equal(pthread_create(&thread, NULL, await_on_thread, &reads), 0);
    await_asleep(&reads.tid);
    hf__loop_post(self.driver.loop, &owns.how.task);
    await_held(&owns.how);
    hf__event_fd_raise(reads.fd);
    pthread_join(thread, &ended);
    assert_non_null(ended);
    let_loop_go(&owns.how);
    let_server_go(&self);
    assert_int_equal(call_wait(&reads.call), HF_OK);
    call_end(&reads.call);
    obeying_close(&self);
}

TEST(reply_that_comes_after_the_wait_is_read)
{
    obeying_server self;
    reading reads;

    obeying_open(&self);
    reading_submit(&reads, &self.driver, "later", ENOUGH_MS);
    assert_true(await_once(&reads, 10));
    let_server_go(&self);
    assert_int_equal(call_wait(&reads.call), HF_OK);
    call_end(&reads.call);
    obeying_close(&self);
}

/* Its end is reported to the loop thread, too, or found by the reader. */
TEST(connection_that_ends_while_one_waits_is_noticed)
{
    obeying_server self;
    pthread_t thread;
    reading reads;

    obeying_open(&self);
    reading_submit(&reads, &self.driver, "cut", ENOUGH_MS);
    start_waiting(&reads, &thread);
    let_server_go(&self);
    pthread_join(thread, NULL);
    assert_int_equal(reads.call.request.status, HF_OK); /* sent again */
    assert_int_equal(atomic_load(&self.received), 3);
    call_end(&reads.call);
    obeying_close(&self);
}

/* --------------------------------------------------------- many at one time */

enum { ROUNDS = 3000 };

typedef struct disturber {
    pthread_t thread;
    test_driver *driver;
    redis_server *server;
    atomic_bool ends;
} disturber;

static void *disturb(void *user)
{
    disturber *self = user;
    char answer[100];
    test_call call;

    for (unsigned i = 0; !atomic_load(&self->ends); i++) {
        CALL(&call, ENOUGH_MS, "ECHO", "other");
        call_submit(self->driver, &call);
        (void)call_wait(&call);
        call_end(&call);
        if (i % 50 == 49)
            (void)redis_server_command(self->server, "CLIENT KILL TYPE normal",
                                       answer, sizeof(answer));
        hf__clock_sleep_until(hf__clock_boot_ms() + i % 3);
    }
    return NULL;
}

/* One thread reads its replies, another sends and breaks the connection, and
 * every third request is cancelled or has no time. */
TEST(reader_gets_its_own_replies_among_others)
{
    redis_server *server = redis_server_start(NULL);
    test_driver driver;
    disturber other = {.driver = &driver, .server = server};
    unsigned own = 0, whole = 0;

    assert_non_null(server);
    driver_open(&driver, redis_server_tcp_url(server));
    command(server, "SET k right", "+OK\r\n");
    assert_int_equal(pthread_create(&other.thread, NULL, disturb, &other), 0);
    for (int i = 0; i < ROUNDS; i++) {
        reading reads;
        cancel_task cancel = {{.run = run_cancel}, &reads};

        reading_submit(&reads, &driver, "k", i % 3 == 0 ? 1 : ENOUGH_MS);
        if (i % 3 == 1)
            hf__loop_post(driver.loop, &cancel.task);
        if (reading_wait(&reads) == HF_OK) {
            assert_text(&reads.call, "right");
            whole++;
        }
        if (i % 3 == 1) /* the task has run */
            hf__loop_call(driver.loop, NULL);
        own += reads.by_reader;
        call_end(&reads.call);
    }
    atomic_store(&other.ends, true);
    pthread_join(other.thread, NULL);
    assert_in_range(whole, ROUNDS / 4, ROUNDS);
    assert_in_range(own, ROUNDS / 20, ROUNDS);
    driver_close(&driver);
    redis_server_stop(server);
}
