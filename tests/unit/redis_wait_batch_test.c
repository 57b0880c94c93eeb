/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_wait_batch_test.c - replicated writes against a scripted server: what
 * is sent on their connection, when WAIT is sent, and how the calls complete
 * when counting fails.
 */
#include "redis_driver.h"
#include "support/slowness.h"

#include <stdatomic.h>
#include <stdio.h>

/* See redis_scripted_test.c. */
#define EXACT_MS 200

/* The server's behaviour, and what it has seen. */
static struct {
    atomic_int acked;      /* the reply to WAIT; -1: none */
    atomic_bool patient;   /* WAIT with too few takes its full time */
    atomic_bool withholds; /* no reply to a write before the next WAIT */
    atomic_bool breaks;    /* WAIT ends the connection */
    const char *probe;     /* the reply to the login's WAIT */
    atomic_int writes;     /* requests with replicas, on any connection */
    atomic_int waits;
    atomic_int wait_ms[8]; /* their times */
    atomic_int wait_for[8];
} served;

static void serve_again(int acked)
{
    atomic_store(&served.acked, acked);
    atomic_store(&served.patient, false);
    atomic_store(&served.withholds, false);
    atomic_store(&served.breaks, false);
    served.probe = ":0\r\n";
    atomic_store(&served.writes, 0);
    atomic_store(&served.waits, 0);
}

static bool answer_wait(int fd, const char *text)
{
    int at = atomic_fetch_add(&served.waits, 1);
    int acked = atomic_load(&served.acked);
    unsigned replicas, ms;
    char line[32];

    if (sscanf(text, "WAIT %u %u", &replicas, &ms) != 2)
        return false;
    if (at < 8) {
        atomic_store(&served.wait_for[at], (int)replicas);
        atomic_store(&served.wait_ms[at], (int)ms);
    }
    if (atomic_load(&served.breaks))
        return false;
    if (acked < 0)
        return true;
    if (atomic_load(&served.patient) && acked < (int)replicas)
        hf__clock_sleep_until(hf__clock_boot_ms() + ms);
    snprintf(line, sizeof(line), ":%d\r\n", atomic_load(&served.acked));
    return fake_server_say(fd, line);
}

static bool answer_write(int fd, const char *text)
{
    atomic_fetch_add(&served.writes, 1);
    return fake_server_say(fd, strstr(text, "refused") != NULL ? "$-1\r\n"
                                                               : "+OK\r\n");
}

static void session(int fd, unsigned connection, void *user)
{
    char withheld[8][64];
    int count = 0;
    char text[200];

    (void)connection;
    (void)user;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        bool alive = true;

        if (strcmp(text, "WAIT 0 1") == 0) {
            alive = fake_server_say(fd, served.probe);
        } else if (strncmp(text, "WAIT", 4) == 0) {
            for (int at = 0; at < count; at++)
                answer_write(fd, withheld[at]);
            count = 0;
            alive = answer_wait(fd, text);
        } else if (atomic_load(&served.withholds) && count < 8) {
            snprintf(withheld[count++], sizeof(withheld[0]), "%.60s", text);
        } else {
            alive = answer_write(fd, text);
        }
        if (!alive)
            return;
    }
}

typedef struct fake_store {
    fake_server *server;
    test_driver driver;
} fake_store;

static void fake_open(fake_store *self, int acked)
{
    serve_again(acked);
    self->server = fake_server_start(session, NULL);
    assert_non_null(self->server);
    driver_open(&self->driver, fake_server_url(self->server));
}

static void fake_close(fake_store *self)
{
    driver_close(&self->driver);
    fake_server_stop(self->server);
}

static bool not_nil(const hf__request *request)
{
    return request->reply.kind != HF_REPLY_NIL;
}

/* A write of `value` that asks for replicas. */
static void ask(test_call *call, const char *value, uint32_t replicas,
                int64_t within_ms, int64_t limit_ms)
{
    CALL(call, limit_ms, "SET", "k", value);
    call->replicas = (hf__replicas){replicas, within_ms};
    call->request.replicas = replicas > 0 ? &call->replicas : NULL;
    call->request.wrote = not_nil;
}

static void submit_all(fake_store *fake, test_call *calls, size_t count)
{
    hf__request *requests[8];

    for (size_t i = 0; i < count; i++)
        requests[i] = &calls[i].request;
    fake->driver.store->ops->submit(fake->driver.store, requests, count);
}

static void expect(test_call *call, int acked)
{
    call_wait(call);
    assert_status(call, HF_OK);
    assert_int_equal(call->request.acked, acked);
    call_end(call);
}

static void wait_for(const atomic_int *number, int value)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;

    while (atomic_load(number) < value) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
}

/* A batch that ends well: from then on WAIT is sent with the batch. */
static void warm_up(fake_store *fake, uint32_t replicas)
{
    test_call call;

    ask(&call, "v", replicas, 1000, ENOUGH_MS);
    call_submit(&fake->driver, &call);
    expect(&call, atomic_load(&served.acked));
    atomic_store(&served.writes, 0);
    atomic_store(&served.waits, 0);
}

/* ---------------------------------------------------------------- counting */

TEST(many_writes_share_one_wait)
{
    test_call calls[5];
    fake_store fake;

    fake_open(&fake, 2);
    for (size_t i = 0; i < 5; i++)
        ask(&calls[i], "v", 2, 700, ENOUGH_MS);
    submit_all(&fake, calls, 5);
    for (size_t i = 0; i < 5; i++)
        expect(&calls[i], 2);
    assert_int_equal(atomic_load(&served.writes), 5);
    assert_int_equal(atomic_load(&served.waits), 1);
    assert_int_equal(atomic_load(&served.wait_for[0]), 2);
    assert_in_range(atomic_load(&served.wait_ms[0]), 500, 700);
    fake_close(&fake);
}

/* The server replies to nothing before it has the WAIT. */
TEST(wait_goes_with_the_writes_while_replicas_keep_up)
{
    test_call calls[3];
    fake_store fake;

    fake_open(&fake, 1);
    warm_up(&fake, 1);
    atomic_store(&served.withholds, true);
    for (size_t i = 0; i < 3; i++)
        ask(&calls[i], "v", 1, 1000, ENOUGH_MS);
    submit_all(&fake, calls, 3);
    for (size_t i = 0; i < 3; i++)
        expect(&calls[i], 1);
    fake_close(&fake);
}

TEST(blocking_call_waits_for_replicas)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 3);
    ask(&call, "v", 3, 1000, ENOUGH_MS);
    assert_int_equal(call_perform(&fake.driver, &call), HF_OK);
    assert_int_equal(call.request.acked, 3);
    call_end(&call);
    fake_close(&fake);
}

TEST(what_wrote_nothing_needs_no_wait)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, -1); /* a WAIT would get no reply */
    for (int i = 0; i < 3; i++) {
        ask(&call, "refused", 1, 1000, ENOUGH_MS);
        assert_int_equal(call_perform(&fake.driver, &call), HF_OK);
        assert_int_equal(call.request.reply.kind, HF_REPLY_NIL);
        call_end(&call);
    }
    assert_int_equal(atomic_load(&served.waits), 0);
    fake_close(&fake);
}

TEST(too_few_are_reported_when_their_time_is_over)
{
    int64_t begin_ms = hf__clock_boot_ms();
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    atomic_store(&served.patient, true);
    ask(&call, "v", 2, 150, ENOUGH_MS);
    call_submit(&fake.driver, &call);
    expect(&call, 1);
    assert_took(hf__clock_boot_ms() - begin_ms, 150, 150 + EXACT_MS);
    assert_int_equal(atomic_load(&served.waits), 1);
    fake_close(&fake);
}

/* While replicas lag, refusals are not delayed by the WAIT of their batch. */
TEST(after_too_few_only_a_success_waits)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    warm_up(&fake, 1);
    atomic_store(&served.acked, 0);
    ask(&call, "v", 1, 50, ENOUGH_MS);
    call_submit(&fake.driver, &call);
    expect(&call, 0);
    atomic_store(&served.waits, 0);
    for (int i = 0; i < 3; i++) { /* each sees what came with the one before */
        ask(&call, "refused", 1, 1000, ENOUGH_MS);
        assert_int_equal(call_perform(&fake.driver, &call), HF_OK);
        call_end(&call);
    }
    assert_int_equal(atomic_load(&served.waits), 0);
    fake_close(&fake);
}

/* Some servers have a WAIT that never waits. */
TEST(wait_that_does_not_wait_is_believed_once)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 0);
    ask(&call, "v", 1, 5000, ENOUGH_MS);
    call_submit(&fake.driver, &call);
    expect(&call, 0);
    assert_int_equal(atomic_load(&served.waits), 1);
    fake_close(&fake);
}

TEST(each_call_has_the_time_it_asked_for)
{
    test_call calls[2];
    fake_store fake;

    fake_open(&fake, 1);
    atomic_store(&served.patient, true);
    ask(&calls[0], "v", 2, 800, ENOUGH_MS);
    ask(&calls[1], "v", 2, 100, ENOUGH_MS);
    submit_all(&fake, calls, 2);
    expect(&calls[1], 1);
    assert_int_equal(__atomic_load_n(&calls[0].done, __ATOMIC_SEQ_CST), 0);
    atomic_store(&served.acked, 2);
    expect(&calls[0], 2);
    assert_int_equal(atomic_load(&served.waits), 2);
    assert_in_range(atomic_load(&served.wait_ms[0]), 1, 100);
    assert_in_range(atomic_load(&served.wait_ms[1]), 101, 700);
    fake_close(&fake);
}

TEST(wait_ends_before_the_deadline)
{
    fake_store fake;
    int64_t limit_ms = slowed_ms(800);
    test_call call;

    fake_open(&fake, 0);
    atomic_store(&served.patient, true);
    ask(&call, "v", 1, 60000, limit_ms);
    call_submit(&fake.driver, &call);
    expect(&call, 0);
    assert_in_range(atomic_load(&served.wait_ms[0]), 1, limit_ms - 1);
    fake_close(&fake);
}

/* ------------------------------------------------------------- going wrong */

TEST(broken_connection_leaves_it_uncounted)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    atomic_store(&served.breaks, true);
    ask(&call, "v", 1, 5000, ENOUGH_MS);
    call.request.repeatable = true;
    call_submit(&fake.driver, &call);
    expect(&call, -1);
    assert_int_equal(atomic_load(&served.writes), 1);
    atomic_store(&served.breaks, false);
    warm_up(&fake, 1);
    fake_close(&fake);
}

/* Broken before its reply, with the WAIT in the same write: it is sent again,
 * and counted where it was written again. */
TEST(unanswered_write_is_counted_on_the_next_connection)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    warm_up(&fake, 1);
    atomic_store(&served.withholds, true);
    atomic_store(&served.acked, -1); /* so the first WAIT gets no reply ... */
    atomic_store(&served.breaks, true);
    ask(&call, "v", 1, 1000, ENOUGH_MS);
    call.request.repeatable = true;
    call_submit(&fake.driver, &call);
    wait_for(&served.waits, 1); /* ... but breaks the connection */
    atomic_store(&served.breaks, false);
    atomic_store(&served.withholds, false);
    atomic_store(&served.acked, 1);
    call_wait(&call);
    assert_status(&call, HF_OK);
    assert_true(call.request.acked == 1 || call.request.acked == -1);
    call_end(&call);
    warm_up(&fake, 1);
    fake_close(&fake);
}

TEST(silent_server_ends_it_at_the_deadline)
{
    int64_t begin_ms = hf__clock_boot_ms();
    fake_store fake;
    test_call call;

    fake_open(&fake, -1);
    ask(&call, "v", 1, 100, 400);
    call_submit(&fake.driver, &call);
    expect(&call, -1);
    assert_took(hf__clock_boot_ms() - begin_ms, 400, 400 + EXACT_MS);
    fake_close(&fake);
}

/* A connection whose WAIT never gets a reply is closed, like any silent one,
 * but not before that WAIT's time plus the silence limit of the server. */
TEST(unanswered_wait_does_not_close_the_lane_forever)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, -1);
    ask(&call, "v", 1, 100, 400);
    call_submit(&fake.driver, &call);
    expect(&call, -1);
    atomic_store(&served.acked, 1);
    ask(&call, "v", 1, 100, ENOUGH_MS);
    call_submit(&fake.driver, &call);
    expect(&call, 1);
    fake_close(&fake);
}

typedef struct cancel_task {
    hf__task base;
    hf__store *store;
    hf__request *request;
} cancel_task;

static void run_cancel(hf__task *task)
{
    cancel_task *self = (cancel_task *)task;

    self->store->ops->cancel(self->store, self->request);
}

/* A silent server is given up after 2 s; one that waits for replicas is not. */
TEST(long_wait_is_not_taken_for_silence)
{
    fake_store fake;
    test_call call;
    unsigned connections;

    fake_open(&fake, 1);
    atomic_store(&served.patient, true);
    ask(&call, "v", 2, 2500, ENOUGH_MS);
    call_submit(&fake.driver, &call);
    wait_for(&served.waits, 1);
    connections = fake_server_count(fake.server);
    expect(&call, 1);
    assert_int_equal(fake_server_count(fake.server), connections);
    fake_close(&fake);
}

TEST(cancelled_call_does_not_wait_for_replicas)
{
    fake_store fake;
    test_call call;
    cancel_task task;
    hf__store *store;

    fake_open(&fake, -1);
    store = fake.driver.store;
    ask(&call, "v", 1, 60000, 60000);
    call_submit(&fake.driver, &call);
    wait_for(&served.waits, 1);
    task = (cancel_task){{.run = run_cancel}, store, &call.request};
    hf__loop_call(fake.driver.loop, &task.base);
    expect(&call, -1);
    fake_close(&fake);
}

TEST(closing_ends_what_is_being_counted)
{
    test_call calls[2];
    fake_store fake;

    fake_open(&fake, -1);
    ask(&calls[0], "v", 1, 60000, 60000);
    call_submit(&fake.driver, &calls[0]);
    wait_for(&served.waits, 1);
    ask(&calls[1], "v", 1, 60000, 60000); /* its turn never comes */
    call_submit(&fake.driver, &calls[1]);
    fake_close(&fake);
    expect(&calls[0], -1);
    call_wait(&calls[1]);
    assert_status(&calls[1], HF_UNAVAILABLE);
    call_end(&calls[1]);
}

/* ------------------------------------------------------------------- others */

TEST(other_calls_do_not_notice)
{
    int64_t begin_ms;
    test_call call, held;
    fake_store fake;

    fake_open(&fake, -1);
    ask(&held, "v", 1, 60000, 60000);
    call_submit(&fake.driver, &held);
    wait_for(&served.waits, 1);
    begin_ms = hf__clock_boot_ms();
    for (int i = 0; i < 20; i++) {
        RUN(&fake.driver, &call, "SET", "k", "v");
        assert_status(&call, HF_OK);
        call_end(&call);
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        call_submit(&fake.driver, &call);
        call_wait(&call);
        assert_status(&call, HF_OK);
        call_end(&call);
    }
    assert_in_time(hf__clock_boot_ms() - begin_ms, 2000);
    fake_close(&fake);
    expect(&held, -1);
}

TEST(who_needs_fewer_does_not_wait_for_more)
{
    test_call call, held;
    fake_store fake;

    fake_open(&fake, 1);
    atomic_store(&served.patient, true);
    ask(&held, "v", 2, 1500, ENOUGH_MS);
    call_submit(&fake.driver, &held);
    wait_for(&served.waits, 1);
    for (int i = 0; i < 5; i++) {
        ask(&call, "v", 1, 1000, ENOUGH_MS);
        call_submit(&fake.driver, &call);
        expect(&call, 1);
    }
    assert_int_equal(__atomic_load_n(&held.done, __ATOMIC_SEQ_CST), 0);
    expect(&held, 1);
    fake_close(&fake);
}

/* Replicas that hang must not cost a lock: its renewal takes another
 * connection. */
TEST(lease_does_not_queue_behind_a_wait)
{
    int64_t begin_ms;
    test_call lease, held;
    fake_store fake;

    fake_open(&fake, -1);
    ask(&held, "v", 1, 60000, 60000);
    call_submit(&fake.driver, &held);
    wait_for(&served.waits, 1);
    begin_ms = hf__clock_boot_ms();
    ask(&lease, "v", 1, 1000, ENOUGH_MS);
    lease.request.lane = HF__LANE_LEASE;
    lease.request.began_ms = begin_ms;
    call_submit(&fake.driver, &lease);
    expect(&lease, -1);
    assert_took(hf__clock_boot_ms() - begin_ms, 20, 20 + EXACT_MS);
    fake_close(&fake);
    expect(&held, -1);
}

TEST(lease_is_counted_while_replicas_keep_up)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    warm_up(&fake, 1);
    ask(&call, "v", 1, 1000, ENOUGH_MS);
    call.request.lane = HF__LANE_LEASE;
    call.request.began_ms = hf__clock_boot_ms() + 1000; /* a slow machine */
    call_submit(&fake.driver, &call);
    expect(&call, 1);
    fake_close(&fake);
}

/* ------------------------------------------------------------------- probe */

/* A lock that was acquired elsewhere, before a failover to this server. */
TEST(lease_does_without_wait)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    served.probe = "-ERR unknown command 'WAIT'\r\n";
    ask(&call, "v", 1, 1000, ENOUGH_MS);
    call.request.lane = HF__LANE_LEASE;
    call.request.began_ms = hf__clock_boot_ms() + 1000; /* a slow machine */
    call_submit(&fake.driver, &call);
    expect(&call, -1);
    fake_close(&fake);
}

static void expect_refusal(const char *probe, hf_status status)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    served.probe = probe;
    for (int submitted = 0; submitted < 2; submitted++) {
        ask(&call, "v", 1, 1000, ENOUGH_MS);
        if (submitted) {
            call_submit(&fake.driver, &call);
            call_wait(&call);
        } else {
            call_perform(&fake.driver, &call);
        }
        assert_status(&call, status);
        assert_non_null(strstr(call.request.error.message, "WAIT"));
        call_end(&call);
    }
    assert_int_equal(atomic_load(&served.writes), 0);
    RUN(&fake.driver, &call, "SET", "k", "v"); /* no call asked for replicas */
    assert_status(&call, HF_OK);
    call_end(&call);
    fake_close(&fake);
}

TEST(server_without_wait_is_unsupported)
{
    expect_refusal("-ERR unknown command 'WAIT', with args beginning with: "
                   "'0' '1' \r\n",
                   HF_UNSUPPORTED);
    expect_refusal("-ERR WAIT is not available here\r\n", HF_UNSUPPORTED);
}

TEST(user_who_may_not_wait_is_denied)
{
    expect_refusal("-NOPERM this user has no permissions to run the 'wait' "
                   "command\r\n",
                   HF_DENIED);
}

TEST(replica_says_so_by_refusing_the_write)
{
    fake_store fake;
    test_call call;

    fake_open(&fake, 1);
    served.probe = "-ERR WAIT cannot be used with replica instances. Please "
                   "also note that since Redis 4.0 if a replica is ...\r\n";
    ask(&call, "refused", 1, 1000, ENOUGH_MS);
    assert_int_equal(call_perform(&fake.driver, &call), HF_OK);
    call_end(&call);
    fake_close(&fake);
}
