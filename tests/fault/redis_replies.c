/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_replies.c - replies that are lost on the way, for each kind of call in
 * each of its forms, by RESP2, RESP3 and TLS.
 *
 * The request was executed and the client cannot know: its connection ends
 * after some bytes of the reply, or the reply never comes. A repeatable call
 * must find out the truth; the rest returns that the outcome is unknown, and
 * never success or failure. Either is compared with what the server holds, read
 * through a separate connection. Calls that change something run exactly once.
 * In the end, a line for each kind of call says what it returned; of calls that
 * are made together, some get a reply before the connection ends.
 */
#include "redis_replies.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/certificates.h"
#include "support/slowness.h"
#include "support/test_clock.h"

#define THREADS 12

/* How often each call is made by all threads at once, and how many bytes later
 * the connection ends each time. */
#define SHARED_ROUNDS 4
#define SHARED_STEP 3

/* How the bytes look. */
typedef struct transport {
    const char *name;
    int protocol;
    bool tls;
    unsigned around; /* bytes of a TLS record in addition to the reply's */
} transport;

static const transport transports[] = {
    {"RESP2", 2, false, 0},
    {"RESP3", 3, false, 0},
    {"TLS", 0, true, 22},
};

/* Least bytes of the reply to one. */
static const unsigned answer_sizes[OPS] = {19, 60, 4, 4, 4, 4, 4, 8, 4, 4, 4};

/* Results of calls whose reply was lost. */
typedef struct account {
    unsigned found, unknown;
} account;

static const transport *by;
static certificates *issued;
static redis_server *server;
static stage here;
static account accounts[OPS];

/* check(), with a count of the result. */
static size_t check_and_count(trial *self)
{
    size_t unknown = check(self);

    accounts[self->op].unknown += (unsigned)unknown;
    accounts[self->op].found += (unsigned)(self->count - unknown);
    return unknown;
}

/* -------------------------------------------------------------- one by one */

/* So that the call has a connection and its script is on the server. */
static void warm_up(const stage *at, operation op, call_form form)
{
    trial self;

    prepare(&self, at, op, form);
    run(&self);
    expect(&self, check(&self) == 0);
    finish(&self);
}

static void cut_answer(operation op, call_form form, unsigned size,
                       byte_end end)
{
    uint64_t before = byte_proxy_cuts(here.proxy);
    size_t unknown;
    trial self;

    warm_up(&here, op, form);
    prepare(&self, &here, op, form);
    byte_proxy_cut(here.proxy, TO_CLIENT, size, end);
    run(&self);
    expect(&self, byte_proxy_cuts(here.proxy) == before + 1);
    unknown = check_and_count(&self);
    expect(&self, (unknown > 0) == !is_resolved(op));
    byte_proxy_heal(here.proxy);
    finish(&self);
}

/* After every byte of the reply; a long one, or one that ends otherwise than by
 * a close, after some of them. */
static void answer_is_cut(operation op, call_form form, byte_end end)
{
    unsigned total = answer_sizes[op] * (form == TOGETHER ? MANY : 1);
    unsigned step = total > 20 || end != BYTE_END_CLOSE ? 5 : 1;

    /* Together, three renewals are one script. */
    if (op == RENEW && form == TOGETHER)
        total = answer_sizes[op];
    total += by->around;
    if (by->tls)
        step = 10;
    for (unsigned size = 0; size < total; size += step)
        cut_answer(op, form, size, end);
}

static void each_answer_is_cut(call_form form, byte_end end)
{
    for (operation op = 0; op < OPS; op++) {
        if (has_form(op, form))
            answer_is_cut(op, form, end);
    }
}

TEST(lost_answer_is_found_out_or_indeterminate)
{
    for (call_form form = 0; form < FORMS; form++)
        each_answer_is_cut(form, BYTE_END_CLOSE);
}

/* How a connection ends is known below the forms of a call: one is enough. */
TEST(reset_after_the_request_is_no_other_than_a_close)
{
    each_answer_is_cut(BLOCKING, BYTE_END_RESET);
}

/* The server keeps reading, and the client sees the end of its input. */
TEST(half_closed_connection_is_left)
{
    each_answer_is_cut(BLOCKING, BYTE_END_HALF);
}

/* A request that did not arrive whole had no effect; the client cannot know. */
TEST(request_cut_on_its_way_is_not_called_a_success)
{
    for (call_form form = 0; form < FORMS; form++) {
        for (operation op = 0; op < OPS; op++) {
            trial self;

            if (!has_form(op, form))
                continue;
            warm_up(&here, op, form);
            prepare(&self, &here, op, form);
            byte_proxy_cut(here.proxy, TO_SERVER, 9, BYTE_END_RESET);
            run(&self);
            for (size_t i = 0; i < self.count; i++) {
                if (is_resolved(op)) {
                    expect(&self, self.statuses[i] == answer_of(op));
                    expect(&self, is_applied(&self, i));
                } else {
                    expect(&self, self.statuses[i] == HF_INDETERMINATE);
                    expect(&self, !is_applied(&self, i));
                }
            }
            finish(&self);
        }
    }
}

/* --------------------------------------------------------- many threads */

typedef struct round {
    trial trials[THREADS];
    pthread_barrier_t barrier;
} round;

typedef struct caller {
    round *round;
    size_t index;
} caller;

static void *run_caller(void *user)
{
    const caller *self = user;

    pthread_barrier_wait(&self->round->barrier);
    run(&self->round->trials[self->index]);
    return NULL;
}

static void run_round(round *self)
{
    pthread_t threads[THREADS];
    caller callers[THREADS];

    pthread_barrier_init(&self->barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        callers[i] = (caller){self, i};
        assert_int_equal(
            pthread_create(&threads[i], NULL, run_caller, &callers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&self->barrier);
}

/* All threads make the call; cut_at < 0: nothing is cut. */
static void threads_round(operation op, int cut_at, size_t *unknown)
{
    static round all;

    for (size_t i = 0; i < THREADS; i++)
        prepare(&all.trials[i], &here, op, BLOCKING);
    if (cut_at >= 0)
        byte_proxy_cut(here.proxy, TO_CLIENT, (unsigned)cut_at,
                       cut_at % 2 ? BYTE_END_RESET : BYTE_END_CLOSE);
    run_round(&all);
    byte_proxy_heal(here.proxy);
    for (size_t i = 0; i < THREADS; i++) {
        trial *self = &all.trials[i];

        /* A login may have been cut, or the request after the one whose reply
         * was. */
        if (cut_at >= 0 && self->statuses[0] == HF_UNAVAILABLE) {
            expect(self, op == REFUSED || !is_applied(self, 0));
        } else if (cut_at >= 0 && self->statuses[0] == HF_INDETERMINATE) {
            expect(self, !is_resolved(op));
            expect(self,
                   op != INCR || !value_is(self->at, self->names[0], "2"));
            accounts[op].unknown++;
            (*unknown)++;
        } else {
            *unknown += check(self);
        }
        finish(self);
    }
}

TEST(answers_to_many_threads_are_lost)
{
    uint64_t before = byte_proxy_cuts(here.proxy);

    for (operation op = 0; op < OPS; op++) {
        size_t unknown = 0;

        for (int at = 0; at < SHARED_ROUNDS; at++) {
            threads_round(op, -1, &unknown); /* all connections are made */
            threads_round(op, at * SHARED_STEP, &unknown);
        }
        assert_true(is_resolved(op) ? unknown == 0 : unknown > 0);
    }
    assert_in_range(byte_proxy_cuts(here.proxy) - before,
                    OPS * SHARED_ROUNDS / 2, OPS * SHARED_ROUNDS);
}

/* -------------------------------------------------------------- no answer */

/* A call whose reply is swallowed while its connection stays: its own client
 * and proxy. */
typedef struct silence {
    trial trial;
    stage at;
    pthread_t thread;
    int64_t took_ms;
} silence;

/* After which a request without a reply is repeated; and its deadline, 3 s,
 * scaled to the load: the second reply must come in time. */
#define REPEAT_MS 1500
static int64_t silent_ms;

static void *run_silence(void *user)
{
    silence *self = user;
    int64_t began_ms = test_now_ms();

    run(&self->trial);
    self->took_ms = test_now_ms() - began_ms;
    return NULL;
}

static void open_stage(stage *at, int64_t request_ms)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    char path[CERTIFICATES_PATH_SIZE], url[64 + CERTIFICATES_PATH_SIZE];

    options.request_ms = request_ms;
    at->proxy = by->tls ? byte_proxy_start_tcp(redis_server_tls_port(server))
                        : byte_proxy_start(redis_server_socket_path(server));
    assert_non_null(at->proxy);
    byte_proxy_speak(at->proxy, by->protocol);
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d?tls_ca=%s",
             byte_proxy_port(at->proxy),
             certificates_path(issued, "ca.pem", path));
    must(hf_client_open(by->tls ? url : byte_proxy_tcp_url(at->proxy), &options,
                        &at->client, NULL));
    must(hf_script_load(at->client,
                        hf_str("return redis.call('incr', KEYS[1])"), &at->incr,
                        NULL));
    must(
        hf_client_open(redis_server_unix_url(server), NULL, &at->direct, NULL));
}

static void close_stage(stage *at)
{
    hf_script_free(at->incr);
    hf_client_close(at->client);
    hf_client_close(at->direct);
    byte_proxy_stop(at->proxy);
}

static void begin_silence(silence *self, operation op, call_form form)
{
    open_stage(&self->at, silent_ms);
    warm_up(&self->at, op, form);
    prepare(&self->trial, &self->at, op, form);
    byte_proxy_swallow(self->at.proxy, TO_CLIENT);
    assert_int_equal(pthread_create(&self->thread, NULL, run_silence, self), 0);
    expect_soon(byte_proxy_swallowed(self->at.proxy, TO_CLIENT) > 0, 1000);
    byte_proxy_heal(self->at.proxy);
}

static void end_silence(silence *self)
{
    trial *of = &self->trial;
    size_t unknown;

    pthread_join(self->thread, NULL);
    unknown = check_and_count(of);
    expect(of, unknown == (is_resolved(of->op) ? 0 : of->count));
    /* None was sent again too early, or waited longer than the deadline; the
     * rest is up to the machine. */
    expect(of, self->took_ms >= REPEAT_MS - 20);
    if (is_resolved(of->op))
        expect(of, self->took_ms < silent_ms);
    finish(of);
    close_stage(&self->at);
}

TEST(swallowed_answer_is_found_out_or_indeterminate)
{
    static silence all[OPS * FORMS];
    size_t count = 0;

    silent_ms = slowed_ms(3000);
    for (call_form form = 0; form < FORMS; form++) {
        for (operation op = 0; op < OPS; op++) {
            if (has_form(op, form))
                begin_silence(&all[count++], op, form);
        }
    }
    for (size_t i = 0; i < count; i++)
        end_silence(&all[i]);
}

/* ------------------------------------------------------------ slow networks */

/* Everything works byte by byte, too, and slowly. */
TEST(split_and_slow_bytes_change_nothing)
{
    byte_proxy_split(here.proxy, TO_CLIENT);
    byte_proxy_split(here.proxy, TO_SERVER);
    for (call_form form = 0; form < FORMS; form++) {
        for (operation op = 0; op < OPS; op++) {
            if (has_form(op, form))
                warm_up(&here, op, form);
        }
    }
    byte_proxy_heal(here.proxy);
    byte_proxy_throttle(here.proxy, TO_CLIENT, 2000);
    byte_proxy_delay(here.proxy, TO_SERVER, 15);
    warm_up(&here, ACQUIRE, TOGETHER);
    warm_up(&here, CAS, BLOCKING);
    byte_proxy_heal(here.proxy);
}

/* ------------------------------------------------------------------- frame */

static int start_server(void)
{
    static char paths[3][CERTIFICATES_PATH_SIZE];
    static redis_server_tls tls;

    issued = certificates_new();
    if (issued == NULL || !certificates_issue_server(issued))
        return -1;
    tls.ca = certificates_path(issued, "ca.pem", paths[0]);
    tls.certificate = certificates_path(issued, "server.pem", paths[1]);
    tls.key = certificates_path(issued, "server.key", paths[2]);
    server = redis_server_start_tls(NULL, &tls);
    return server == NULL ? -1 : 0;
}

/* Do requests use the protocol under test? */
static void check_protocol(void)
{
    static char list[65536];

    assert_true(
        redis_server_command(server, "CLIENT LIST", list, sizeof(list)));
    assert_int_equal(strstr(list, "resp=3") != NULL, by->protocol == 3);
}

/* No request here is to time out: byte by byte they take seconds on a machine
 * with forty processes for each core. */
#define REQUEST_MS 60000

static int set_up(void **state)
{
    (void)state;
    open_stage(&here, REQUEST_MS);
    warm_up(&here, CAS, BLOCKING);
    check_protocol();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_stage(&here);
    return 0;
}

ALL_TESTS_WITH(set_up, tear_down);

static void report(void)
{
    for (operation op = 0; op < OPS; op++)
        printf("%-5s %-15s %4u calls amid lost replies: %4u learned the "
               "outcome, %4u HF_INDETERMINATE\n",
               by->name, op_names[op],
               accounts[op].found + accounts[op].unknown, accounts[op].found,
               accounts[op].unknown);
    memset(accounts, 0, sizeof(accounts));
}

int main(void)
{
    int failed = 0;

    if (start_server() != 0)
        return 1;
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        by = &transports[i];
        failed += test_run_all(by->name);
        report();
    }
    redis_server_stop(server);
    certificates_free(issued);
    return failed;
}
