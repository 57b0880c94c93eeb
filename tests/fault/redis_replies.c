/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_replies.c - answers that are lost on the way, each kind of call in each
 * of its forms.
 *
 * The request was carried out and the client cannot know: its connection ends
 * after some bytes of the answer, or the answer never comes. What may be asked
 * again must find out the truth; the rest says that it does not know, and never
 * that it succeeded or failed. Either is compared with what the server holds,
 * seen on a way of its own. Calls that change something run exactly once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast.h"
#include "support/byte_proxy.h"
#include "support/redis_server.h"
#include "support/test_clock.h"

#define MANY 3
#define THREADS 12
#define TTL_MS 30000

/* How often each call is made by all threads at once. */
#define SHARED_ROUNDS 12

typedef enum operation {
    ACQUIRE,
    REFUSED,
    RELEASE,
    RENEW,
    MARKED,       /* cas with HF_CAS_RESOLVE */
    MARKED_FIELD, /* of a hash */
    CAS,
    PUT,
    INCR,
    OPS
} operation;
typedef enum call_form { BLOCKING, STARTED, TOGETHER, FORMS } call_form;

static const char *const op_names[OPS] = {
    "acquire",      "refused acquire",    "release", "renew",
    "resolved cas", "resolved field cas", "cas",     "put",
    "incr"};
static const char *const form_names[FORMS] = {"blocking", "started", "many"};

/* Bytes of the answer to one, at least. */
static const unsigned answer_sizes[OPS] = {19, 60, 4, 4, 4, 4, 4, 4, 4};

static redis_server *server;
static byte_proxy *proxy;
static hf_client *direct; /* not through the proxy */
static hf_client *client;
static hf_script *incr;

/* One call on names of its own. */
typedef struct trial {
    operation op;
    call_form form;
    size_t count;
    hf_client *client;
    hf_script *incr;
    char names[MANY][48];
    hf_lock *locks[MANY];
    hf_lock *others[MANY]; /* of REFUSED: who holds it */
    hf_status statuses[MANY];
    hf_reply *reply;
    bool told;
} trial;

/* Fail with the case in the message. */
#define expect(trial, condition)                                               \
    do {                                                                       \
        if (!(condition))                                                      \
            fail_msg("%s, %s: not so: %s (statuses %s %s %s)",                 \
                     form_names[(trial)->form], op_names[(trial)->op],         \
                     #condition, hf_status_name((trial)->statuses[0]),         \
                     hf_status_name((trial)->statuses[1]),                     \
                     hf_status_name((trial)->statuses[2]));                    \
    } while (0)

#define must(call) assert_int_equal((call), HF_OK)

/* ----------------------------------------------------------------- prepare */

static bool is_lock_op(operation op)
{
    return op <= RENEW;
}

/* May it be asked again? */
static bool is_resolved(operation op)
{
    return op <= MARKED_FIELD;
}

static bool has_form(operation op, call_form form)
{
    return form != TOGETHER || (op != INCR && op != MARKED_FIELD);
}

static void make_lock(trial *self, size_t i)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;

    options.ttl_ms = TTL_MS;
    options.flags = HF_LOCK_NO_RENEW;
    must(hf_lock_new(self->client, hf_str(self->names[i]), &options,
                     &self->locks[i], NULL));
    if (self->op == REFUSED) {
        must(hf_lock_new(direct, hf_str(self->names[i]), &options,
                         &self->others[i], NULL));
        must(hf_lock_try(self->others[i], NULL));
    }
    if (self->op == RELEASE || self->op == RENEW)
        must(hf_lock_try(self->locks[i], NULL));
    /* So that a renewal can be seen. */
    if (self->op == RENEW)
        must(hf_key_touch(direct, hf_str(self->names[i]), TTL_MS / 3, NULL));
}

static void prepare(trial *self, operation op, call_form form)
{
    static unsigned number;

    memset(self, 0, sizeof(*self));
    self->op = op;
    self->form = form;
    self->client = client;
    self->incr = incr;
    self->count = form == TOGETHER ? MANY : 1;
    for (size_t i = 0; i < self->count; i++) {
        snprintf(self->names[i], sizeof(self->names[i]), "t%u", number++);
        if (is_lock_op(op))
            make_lock(self, i);
        if (op == MARKED_FIELD)
            must(hf_hash_put(direct, hf_str(self->names[i]),
                             &(hf_field){hf_str("f"), hf_str("old")}, 1, NULL,
                             NULL));
        if (op == CAS || op == MARKED)
            must(hf_value_set(direct, hf_str(self->names[i]), hf_str("old"),
                              NULL, NULL, NULL));
    }
}

/* --------------------------------------------------------------------- run */

static const hf_cas_options marked = {sizeof(marked), 0, HF_CAS_RESOLVE, 0};

static hf_status run_blocking(trial *self)
{
    hf_bytes name = hf_str(self->names[0]);
    hf_field field = {hf_str("f"), hf_str("v")};
    hf_bytes old = hf_str("old");

    switch (self->op) {
    case ACQUIRE:
    case REFUSED:
        return hf_lock_try(self->locks[0], NULL);
    case RELEASE:
        return hf_lock_release(self->locks[0], NULL);
    case RENEW:
        return hf_lock_renew(self->locks[0], NULL);
    case CAS:
    case MARKED:
        return hf_value_cas(self->client, name, &old, hf_str("new"),
                            self->op == CAS ? NULL : &marked, NULL, NULL);
    case MARKED_FIELD:
        return hf_hash_cas(self->client, name, hf_str("f"), &old, hf_str("new"),
                           &marked, NULL, NULL);
    case PUT:
        return hf_hash_put(self->client, name, &field, 1, NULL, NULL);
    default:
        return hf_script_run(self->incr, &name, 1, NULL, 0, &self->reply, NULL);
    }
}

static void tell_trial(void *user, hf_status status, const hf_error *err)
{
    trial *self = user;

    (void)err;
    self->statuses[0] = status;
    self->told = true;
}

static hf_status start(trial *self, const hf_async *async)
{
    hf_bytes name = hf_str(self->names[0]);
    hf_field field = {hf_str("f"), hf_str("v")};
    hf_bytes old = hf_str("old");

    switch (self->op) {
    case ACQUIRE:
    case REFUSED:
        return hf_lock_acquire_start(self->locks[0], 0, async, NULL);
    case RELEASE:
        return hf_lock_release_start(self->locks[0], async, NULL);
    case RENEW:
        return hf_lock_renew_start(self->locks[0], async, NULL);
    case CAS:
    case MARKED:
        return hf_value_cas_start(self->client, name, &old, hf_str("new"),
                                  self->op == CAS ? NULL : &marked, NULL, async,
                                  NULL);
    case MARKED_FIELD:
        return hf_hash_cas_start(self->client, name, hf_str("f"), &old,
                                 hf_str("new"), &marked, NULL, async, NULL);
    case PUT:
        return hf_hash_put_start(self->client, name, &field, 1, NULL, async,
                                 NULL);
    default:
        return hf_script_run_start(self->incr, &name, 1, NULL, 0, &self->reply,
                                   async, NULL);
    }
}

static hf_status run_started(trial *self)
{
    int64_t until_ms = test_now_ms() + 20000;
    struct pollfd waiting = {.events = POLLIN};
    hf_async async = HF_ASYNC_INIT;
    hf_status status;

    async.done = tell_trial;
    async.user = self;
    status = start(self, &async);
    if (status == HF_OK)
        status = hf_client_fd(self->client, &waiting.fd, NULL);
    if (status != HF_OK)
        return status;
    while (!self->told && test_now_ms() < until_ms) {
        poll(&waiting, 1, 100);
        (void)!hf_client_dispatch(self->client, NULL, NULL);
    }
    return self->told ? self->statuses[0] : HF_SYSTEM;
}

static void run_together(trial *self)
{
    hf_cas_item cas[MANY];
    hf_hash_item puts[MANY];
    hf_field field = {hf_str("f"), hf_str("v")};
    hf_bytes old = hf_str("old");

    for (size_t i = 0; i < MANY; i++) {
        hf_bytes name = hf_str(self->names[i]);

        cas[i] = (hf_cas_item){name, &old, hf_str("new"), NULL};
        puts[i] = (hf_hash_item){name, &field, 1};
    }
    if (self->op == ACQUIRE || self->op == REFUSED)
        (void)!hf_lock_acquire_many(self->locks, MANY, 0, self->statuses, NULL);
    else if (self->op == RELEASE)
        (void)!hf_lock_release_many(self->locks, MANY, self->statuses, NULL);
    else if (self->op == RENEW)
        (void)!hf_lock_renew_many(self->locks, MANY, self->statuses, NULL);
    else if (self->op == CAS || self->op == MARKED)
        (void)!hf_value_cas_many(self->client, cas, MANY,
                                 self->op == CAS ? NULL : &marked,
                                 self->statuses, NULL);
    else
        (void)!hf_hash_put_many(self->client, puts, MANY, NULL, self->statuses,
                                NULL);
}

static void run(trial *self)
{
    if (self->form == BLOCKING)
        self->statuses[0] = run_blocking(self);
    else if (self->form == STARTED)
        self->statuses[0] = run_started(self);
    else
        run_together(self);
}

/* ------------------------------------------------------------------- truth */

static bool value_is(const char *name, const char *want)
{
    hf_buffer value = HF_BUFFER_INIT;
    bool same = hf_value_get(direct, hf_str(name), &value, NULL) == HF_OK &&
                strcmp(value.data, want) == 0;

    hf_buffer_free(&value);
    return same;
}

static bool field_is(const char *name, const char *want)
{
    hf_buffer value = HF_BUFFER_INIT;
    bool same =
        hf_hash_get(direct, hf_str(name), hf_str("f"), &value, NULL) == HF_OK &&
        strcmp(value.data, want) == 0;

    hf_buffer_free(&value);
    return same;
}

/* Has the call had its effect, and once? */
static bool is_applied(trial *self, size_t i)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    const char *name = self->names[i];
    hf_status seen = HF_OK;
    char owner[HF_OWNER_SIZE];

    if (is_lock_op(self->op)) {
        seen = hf_lock_inspect(direct, hf_str(name), &info, NULL);
        expect(self, seen == HF_OK || seen == HF_NOT_FOUND);
        hf_lock_owner(self->locks[i], owner);
    }
    switch (self->op) {
    case ACQUIRE:
        return seen == HF_OK && strcmp(info.owner, owner) == 0 &&
               info.token == hf_lock_token(self->locks[i]) &&
               hf_lock_is_held(self->locks[i]);
    case REFUSED:
        hf_lock_owner(self->others[i], owner);
        return strcmp(info.owner, owner) == 0 &&
               !hf_lock_is_held(self->locks[i]);
    case RELEASE:
        return seen == HF_NOT_FOUND;
    case RENEW:
        return seen == HF_OK && info.remaining_ms > TTL_MS / 2;
    case CAS:
    case MARKED:
        return value_is(name, "new");
    case MARKED_FIELD:
        return field_is(name, "new");
    case PUT:
        return field_is(name, "v");
    default:
        return value_is(name, "1");
    }
}

static void finish(trial *self)
{
    for (size_t i = 0; i < self->count; i++) {
        hf_lock_free(self->locks[i]);
        hf_lock_free(self->others[i]);
        (void)!hf_value_delete(direct, hf_str(self->names[i]), NULL);
        (void)!hf_hash_delete(direct, hf_str(self->names[i]), NULL);
    }
    hf_reply_free(self->reply);
}

/* The status of a call that was answered. */
static hf_status answer_of(operation op)
{
    return op == REFUSED ? HF_HELD : HF_OK;
}

/* All went to the server; of the answers some were lost. Returns how many are
 * not known. */
static size_t check(trial *self)
{
    size_t unknown = 0;

    for (size_t i = 0; i < self->count; i++) {
        hf_status status = self->statuses[i];

        expect(self, is_applied(self, i));
        if (status == HF_INDETERMINATE && !is_resolved(self->op))
            unknown++;
        else
            expect(self, status == answer_of(self->op));
    }
    return unknown;
}

/* -------------------------------------------------------------- one by one */

/* So that the call finds a connection and its script on the server. */
static void warm_up(operation op, call_form form)
{
    trial self;

    prepare(&self, op, form);
    run(&self);
    expect(&self, check(&self) == 0);
    finish(&self);
}

static void cut_answer(operation op, call_form form, unsigned size,
                       byte_end end)
{
    uint64_t before = byte_proxy_cuts(proxy);
    size_t unknown;
    trial self;

    warm_up(op, form);
    prepare(&self, op, form);
    byte_proxy_cut(proxy, TO_CLIENT, size, end);
    run(&self);
    expect(&self, byte_proxy_cuts(proxy) == before + 1);
    unknown = check(&self);
    expect(&self, (unknown > 0) == !is_resolved(op));
    byte_proxy_heal(proxy);
    finish(&self);
}

/* After every byte of the answer; a long one is cut at some of them. */
static void answer_is_cut(operation op, call_form form, byte_end end)
{
    unsigned total = answer_sizes[op] * (form == TOGETHER ? MANY : 1);
    unsigned step = total > 20 ? 5 : 1;

    /* Together, three renewals are one script. */
    if (op == RENEW && form == TOGETHER)
        total = answer_sizes[op];
    for (unsigned size = 0; size < total; size += step)
        cut_answer(op, form, size, end);
}

static void each_answer_is_cut(byte_end end)
{
    for (call_form form = 0; form < FORMS; form++) {
        for (operation op = 0; op < OPS; op++) {
            if (has_form(op, form))
                answer_is_cut(op, form, end);
        }
    }
}

static void lost_answer_is_found_out_or_indeterminate(void **state)
{
    (void)state;
    each_answer_is_cut(BYTE_END_CLOSE);
}

static void reset_after_the_request_is_no_other_than_a_close(void **state)
{
    (void)state;
    each_answer_is_cut(BYTE_END_RESET);
}

/* The server goes on reading, and the client hears that nothing more comes. */
static void half_closed_connection_is_left(void **state)
{
    (void)state;
    each_answer_is_cut(BYTE_END_HALF);
}

/* A request that did not come through whole had no effect; who sent it cannot
 * know. */
static void request_cut_on_its_way_is_not_called_a_success(void **state)
{
    (void)state;
    for (call_form form = 0; form < FORMS; form++) {
        for (operation op = 0; op < OPS; op++) {
            trial self;

            if (!has_form(op, form))
                continue;
            warm_up(op, form);
            prepare(&self, op, form);
            byte_proxy_cut(proxy, TO_SERVER, 9, BYTE_END_RESET);
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
        prepare(&all.trials[i], op, BLOCKING);
    if (cut_at >= 0)
        byte_proxy_cut(proxy, TO_CLIENT, (unsigned)cut_at,
                       cut_at % 2 ? BYTE_END_RESET : BYTE_END_CLOSE);
    run_round(&all);
    byte_proxy_heal(proxy);
    for (size_t i = 0; i < THREADS; i++) {
        trial *self = &all.trials[i];

        /* A login may be what was cut, or a request behind the one whose
         * answer was. */
        if (cut_at >= 0 && self->statuses[0] == HF_UNAVAILABLE) {
            expect(self, op == REFUSED || !is_applied(self, 0));
        } else if (cut_at >= 0 && self->statuses[0] == HF_INDETERMINATE) {
            expect(self, !is_resolved(op));
            expect(self, op != INCR || !value_is(self->names[0], "2"));
            (*unknown)++;
        } else {
            *unknown += check(self);
        }
        finish(self);
    }
}

static void answers_to_many_threads_are_lost(void **state)
{
    uint64_t before = byte_proxy_cuts(proxy);

    (void)state;
    for (operation op = 0; op < OPS; op++) {
        size_t unknown = 0;

        for (int at = 0; at < SHARED_ROUNDS; at++) {
            threads_round(op, -1, &unknown); /* all connections are there */
            threads_round(op, at, &unknown);
        }
        assert_true(is_resolved(op) ? unknown == 0 : unknown > 0);
    }
    assert_in_range(byte_proxy_cuts(proxy) - before, OPS * SHARED_ROUNDS / 2,
                    OPS * SHARED_ROUNDS);
}

/* -------------------------------------------------------------- no answer */

/* A call whose answer is swallowed, while its connection stays: a client and a
 * proxy of its own. */
typedef struct silence {
    trial trial;
    byte_proxy *proxy;
    hf_client *client;
    hf_script *incr;
    pthread_t thread;
    int64_t took_ms;
} silence;

#define SILENT_REQUEST_MS 3000

static void *run_silence(void *user)
{
    silence *self = user;
    int64_t began_ms = test_now_ms();

    run(&self->trial);
    self->took_ms = test_now_ms() - began_ms;
    return NULL;
}

static hf_script *load_incr(hf_client *of)
{
    hf_script *script;

    must(hf_script_load(of, hf_str("return redis.call('incr', KEYS[1])"),
                        &script, NULL));
    return script;
}

static void begin_silence(silence *self, operation op, call_form form)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *kept = client;
    hf_script *kept_incr = incr;

    options.request_ms = SILENT_REQUEST_MS;
    self->proxy = byte_proxy_start(redis_server_socket_path(server));
    assert_non_null(self->proxy);
    must(hf_client_open(byte_proxy_tcp_url(self->proxy), &options,
                        &self->client, NULL));
    self->incr = load_incr(self->client);
    client = self->client;
    incr = self->incr;
    warm_up(op, form);
    prepare(&self->trial, op, form);
    client = kept;
    incr = kept_incr;
    byte_proxy_swallow(self->proxy, TO_CLIENT);
    assert_int_equal(pthread_create(&self->thread, NULL, run_silence, self), 0);
}

static void end_silence(silence *self)
{
    trial *of = &self->trial;
    size_t unknown;

    pthread_join(self->thread, NULL);
    unknown = check(of);
    expect(of, unknown == (is_resolved(of->op) ? 0 : of->count));
    /* Nobody has asked again before it was time, or waited longer than the
     * deadline; what lies between is the machine's. */
    expect(of, self->took_ms >= SILENT_REQUEST_MS / 2 - 20);
    if (is_resolved(of->op))
        expect(of, self->took_ms < SILENT_REQUEST_MS);
    finish(of);
    hf_script_free(self->incr);
    hf_client_close(self->client);
    byte_proxy_stop(self->proxy);
}

static void swallowed_answer_is_found_out_or_indeterminate(void **state)
{
    static silence all[OPS * FORMS];
    size_t count = 0;

    (void)state;
    for (call_form form = 0; form < FORMS; form++) {
        for (operation op = 0; op < OPS; op++) {
            if (has_form(op, form))
                begin_silence(&all[count++], op, form);
        }
    }
    for (size_t i = 0; i < count; i++) {
        expect_soon(byte_proxy_swallowed(all[i].proxy, TO_CLIENT) > 0, 1000);
        byte_proxy_heal(all[i].proxy);
    }
    for (size_t i = 0; i < count; i++)
        end_silence(&all[i]);
}

/* ------------------------------------------------------------ slow networks */

/* All of it works byte by byte, too, and slowly. */
static void split_and_slow_bytes_change_nothing(void **state)
{
    (void)state;
    byte_proxy_split(proxy, TO_CLIENT);
    byte_proxy_split(proxy, TO_SERVER);
    for (call_form form = 0; form < FORMS; form++) {
        for (operation op = 0; op < OPS; op++) {
            if (has_form(op, form))
                warm_up(op, form);
        }
    }
    byte_proxy_heal(proxy);
    byte_proxy_throttle(proxy, TO_CLIENT, 2000);
    byte_proxy_delay(proxy, TO_SERVER, 15);
    warm_up(ACQUIRE, TOGETHER);
    warm_up(CAS, BLOCKING);
    byte_proxy_heal(proxy);
}

/* ------------------------------------------------------------------- frame */

static int set_up(void **state)
{
    (void)state;
    server = redis_server_start(NULL);
    assert_non_null(server);
    proxy = byte_proxy_start(redis_server_socket_path(server));
    assert_non_null(proxy);
    must(hf_client_open(redis_server_unix_url(server), NULL, &direct, NULL));
    must(hf_client_open(byte_proxy_tcp_url(proxy), NULL, &client, NULL));
    incr = load_incr(client);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hf_script_free(incr);
    hf_client_close(client);
    hf_client_close(direct);
    byte_proxy_stop(proxy);
    redis_server_stop(server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_answer_is_found_out_or_indeterminate),
        cmocka_unit_test(reset_after_the_request_is_no_other_than_a_close),
        cmocka_unit_test(half_closed_connection_is_left),
        cmocka_unit_test(request_cut_on_its_way_is_not_called_a_success),
        cmocka_unit_test(answers_to_many_threads_are_lost),
        cmocka_unit_test(swallowed_answer_is_found_out_or_indeterminate),
        cmocka_unit_test(split_and_slow_bytes_change_nothing),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
