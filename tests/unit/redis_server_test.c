/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_server_test.c - servers under a topology that sends requests on: a
 * small one of two scripted servers and a router that does as the test says.
 */
#include "redis_driver.h"

#include <stdio.h>
#include <sys/un.h>

#include "store/redis/server/route.h"
#include "store/redis/server/server.h"
#include "support/slowness.h"

enum { A, B, SERVERS };

/* Answers request number `number` of a server's connection; false: close. */
typedef bool (*act_fn)(int fd, unsigned connection, unsigned number,
                       const char *text);

/* A resolver whose answer the test changes. */
typedef struct test_resolver {
    hf__resolver base;
    const char *path; /* atomic */
    uint32_t refreshes;
} test_resolver;

typedef struct topology {
    hf__router router;
    hf__store_context context;
    hf__redis_account account;
    act_fn acts[SERVERS];
    fake_server *fakes[SERVERS];
    test_resolver resolvers[SERVERS];
    hf__server *servers[SERVERS];
    hf__loop *loop;
    bool (*decide)(struct topology *self, const hf__redirect *why,
                   hf__route *route);
    hf__redirect last;
    uint32_t asked;
} topology;

/* What the servers tell the test; both are words to wait on. */
static uint32_t reached;
static uint32_t allowed;

static void signal_word(uint32_t *word)
{
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
    hf__futex_wake_all(word, false);
}

static void wait_word(uint32_t *word)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;

    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__futex_wait(word, 0, until_ms, false);
    }
}

static void act_session(int fd, unsigned connection, void *user)
{
    act_fn act = *(act_fn *)user;
    char text[200];

    if (!fake_server_login(fd, "7.0.0"))
        return;
    for (unsigned number = 0; fake_server_read(fd, text, sizeof(text));
         number++) {
        if (!act(fd, connection, number, text))
            return;
    }
}

static void resolver_get(hf__resolver *resolver, hf__resolved *resolved)
{
    test_resolver *self = (test_resolver *)resolver;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = __atomic_load_n(&self->path, __ATOMIC_SEQ_CST);

    memset(resolved, 0, sizeof(*resolved));
    memcpy(address.sun_path, path, strlen(path) + 1);
    memcpy(resolved->text, path, strlen(path) + 1);
    memcpy(&resolved->items[0], &address, sizeof(address));
    resolved->sizes[0] = sizeof(address);
    resolved->count = 1;
}

static void resolver_refresh(hf__resolver *resolver)
{
    test_resolver *self = (test_resolver *)resolver;

    __atomic_add_fetch(&self->refreshes, 1, __ATOMIC_SEQ_CST);
}

static void resolver_free(hf__resolver *resolver)
{
    (void)resolver;
}

static const hf__resolver_ops test_resolver_ops = {
    .get = resolver_get,
    .refresh = resolver_refresh,
    .free = resolver_free,
};

static bool on_redirect(hf__router *router, hf__server *from,
                        const hf__request *request,
                        const hf__attempts *attempts, const hf__redirect *why,
                        hf__route *route)
{
    topology *self = (topology *)router;

    (void)request;
    assert_ptr_equal(from, self->servers[A]);
    assert_true(attempts->redirects <= HF__REDIRECTS_MAX);
    self->last = *why;
    __atomic_add_fetch(&self->asked, 1, __ATOMIC_SEQ_CST);
    return self->decide(self, why, route);
}

static const char *path_of(const fake_server *fake)
{
    return fake_server_url(fake) + strlen("redis+unix://");
}

static void open_topology(topology *self, act_fn a, act_fn b)
{
    hf__store_config config = {.connect_ms = 1000};
    hf_error err = HF_ERROR_INIT;

    memset(self, 0, sizeof(*self));
    reached = allowed = 0;
    self->acts[A] = a;
    self->acts[B] = b;
    self->router.redirect = on_redirect;
    config.loop = self->loop = hf__loop_new();
    hf__store_context_init(&self->context, &config, &self->router);
    for (int at = 0; at < SERVERS; at++) {
        self->fakes[at] = fake_server_start(act_session, &self->acts[at]);
        assert_non_null(self->fakes[at]);
        self->resolvers[at].base.ops = &test_resolver_ops;
        self->resolvers[at].path = path_of(self->fakes[at]);
        assert_int_equal(hf__server_new(&self->context, &self->account,
                                        &self->resolvers[at].base,
                                        &self->servers[at], &err),
                         HF_OK);
    }
}

static void close_topology(topology *self)
{
    for (int at = 0; at < SERVERS; at++) {
        if (self->servers[at] != NULL)
            hf__server_close(self->servers[at]);
    }
    hf__store_context_drain(&self->context);
    hf__loop_free(self->loop);
    for (int at = 0; at < SERVERS; at++)
        fake_server_stop(self->fakes[at]);
}

static bool to_b(topology *self, const hf__redirect *why, hf__route *route)
{
    hf__server_hold(self->servers[B]);
    route->server = self->servers[B];
    route->asking = why->kind == HF__REDIRECT_ASK;
    return true;
}

static bool to_b_later(topology *self, const hf__redirect *why,
                       hf__route *route)
{
    route->at_ms = hf__clock_boot_ms() + 50;
    return to_b(self, why, route);
}

static bool to_a_soon(topology *self, const hf__redirect *why, hf__route *route)
{
    (void)why;
    hf__server_hold(self->servers[A]);
    route->server = self->servers[A];
    return true;
}

static bool to_none(topology *self, const hf__redirect *why, hf__route *route)
{
    (void)self;
    (void)why;
    (void)route;
    return false;
}

/* Begin a request on A, on an inline connection or (shared) the other one. */
static void begin(topology *self, test_call *call, bool shared)
{
    hf__request *request = &call->request;

    assert_false(hf__store_context_refuse(&self->context, request));
    if (shared)
        hf__server_submit(self->servers[A], &request, 1);
    else
        hf__server_perform(self->servers[A], request);
}

static void run(topology *self, test_call *call, bool shared)
{
    begin(self, call, shared);
    if (shared)
        call_wait(call);
}

/* ------------------------------------------------------------------ tests */

static bool says_moved(int fd, unsigned connection, unsigned number,
                       const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "-MOVED 3999 10.0.0.2:6381\r\n");
}

static bool says_ok(int fd, unsigned connection, unsigned number,
                    const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "+OK\r\n");
}

TEST(moved_request_is_redirected_from_both_kinds)
{
    topology all;
    test_call call;

    open_topology(&all, says_moved, says_ok);
    for (int later = 0; later < 2; later++) {
        all.decide = later ? to_b_later : to_b;
        for (int shared = 0; shared < 2; shared++) {
            CALL(&call, ENOUGH_MS, "SET", "k", "v");
            run(&all, &call, shared);
            assert_text(&call, "OK");
            assert_int_equal(call.request.sends, 1);
            call_end(&call);
        }
    }
    assert_int_equal(all.last.slot, 3999);
    assert_string_equal(all.last.host, "10.0.0.2");
    assert_int_equal(all.last.port, 6381);
    close_topology(&all);
}

TEST(without_a_server_the_error_is_the_answer)
{
    topology all;
    test_call call;

    open_topology(&all, says_moved, says_ok);
    all.decide = to_none;
    for (int shared = 0; shared < 2; shared++) {
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        run(&all, &call, shared);
        assert_status(&call, HF_UNSUPPORTED);
        call_end(&call);
    }
    close_topology(&all);
}

TEST(circle_of_redirects_ends)
{
    topology all;
    test_call call;

    open_topology(&all, says_moved, says_ok);
    all.decide = to_a_soon;
    for (int shared = 0; shared < 2; shared++) {
        all.asked = 0;
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        run(&all, &call, shared);
        assert_status(&call, HF_UNSUPPORTED);
        assert_int_equal(all.asked, HF__REDIRECTS_MAX);
        call_end(&call);
    }
    close_topology(&all);
}

static bool says_ask(int fd, unsigned connection, unsigned number,
                     const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "-ASK 3999 10.0.0.2:6381\r\n");
}

static bool wants_asking(int fd, unsigned connection, unsigned number,
                         const char *text)
{
    (void)connection;
    if (number % 2 == 0)
        return fake_server_say(
            fd, strcmp(text, "ASKING") == 0 ? "+OK\r\n" : "-ERR not asked\r\n");
    return fake_server_say(fd, strcmp(text, "SET k v") == 0 ? "+HERE\r\n"
                                                            : "-ERR what\r\n");
}

TEST(asked_request_is_preceded_by_asking)
{
    topology all;
    test_call call;

    open_topology(&all, says_ask, wants_asking);
    all.decide = to_b;
    for (int shared = 0; shared < 2; shared++) {
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        run(&all, &call, shared);
        assert_text(&call, "HERE");
        call_end(&call);
    }
    close_topology(&all);
}

/* The first sending is not answered, the second is sent away. */
static bool closes_then_moves(int fd, unsigned connection, unsigned number,
                              const char *text)
{
    return connection % 2 == 1 && says_moved(fd, connection, number, text);
}

static bool says_full(int fd, unsigned connection, unsigned number,
                      const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "-OOM command not allowed\r\n");
}

TEST(doubt_stays_with_the_request)
{
    topology all;
    test_call call;

    open_topology(&all, closes_then_moves, says_full);
    all.decide = to_b;
    for (int shared = 0; shared < 2; shared++) {
        if (shared) { /* the connections count on */
            hf__server_close(all.servers[A]);
            fake_server_stop(all.fakes[A]);
            all.fakes[A] = fake_server_start(act_session, &all.acts[A]);
            all.resolvers[A].path = path_of(all.fakes[A]);
            assert_int_equal(hf__server_new(&all.context, &all.account,
                                            &all.resolvers[A].base,
                                            &all.servers[A], NULL),
                             HF_OK);
        }
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        call.request.repeatable = true;
        run(&all, &call, shared);
        assert_status(&call, HF_INDETERMINATE);
        assert_int_equal(call.request.sends, 2);
        call_end(&call);
    }
    close_topology(&all);
}

TEST(request_of_an_unreachable_server_is_redirected)
{
    topology all;
    test_call call;

    open_topology(&all, says_ok, says_ok);
    all.decide = to_b;
    all.resolvers[A].path = "/nowhere/socket";
    for (int shared = 0; shared < 2; shared++) {
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        run(&all, &call, shared);
        assert_text(&call, "OK");
        assert_int_equal(all.last.kind, HF__REDIRECT_UNREACHABLE);
        call_end(&call);
    }
    assert_true(all.resolvers[A].refreshes > 0);
    close_topology(&all);
}

/* Answers the first request when it may. */
static bool answers_when_allowed(int fd, unsigned connection, unsigned number,
                                 const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    signal_word(&reached);
    wait_word(&allowed);
    return fake_server_say(fd, "+OLD\r\n");
}

TEST(retired_server_ends_what_is_in_flight_only)
{
    hf__server *server;
    topology all;
    test_call before;
    test_call after;

    open_topology(&all, answers_when_allowed, says_ok);
    all.decide = to_b;
    CALL(&before, ENOUGH_MS, "SET", "k", "v");
    begin(&all, &before, true);
    wait_word(&reached);
    server = all.servers[A];
    hf__server_hold(server); /* as a caller that found it before */
    hf__server_retire(server);
    CALL(&after, ENOUGH_MS, "SET", "k", "w");
    run(&all, &after, true);
    assert_text(&after, "OK");
    assert_int_equal(all.last.kind, HF__REDIRECT_GONE);
    assert_int_equal(before.done, 0);
    signal_word(&allowed);
    call_wait(&before);
    assert_text(&before, "OLD");
    call_end(&before);
    call_end(&after);
    all.servers[A] = NULL;
    hf__server_release(server);
    hf__store_context_drain(&all.context);
    close_topology(&all);
}

/* No answer comes: the deadline ends it, and then the server can go. */
TEST(retired_server_goes_when_the_last_deadline_has_passed)
{
    topology all;
    test_call call;

    open_topology(&all, answers_when_allowed, says_ok);
    all.decide = to_b;
    CALL(&call, 200, "SET", "k", "v");
    begin(&all, &call, true);
    wait_word(&reached);
    hf__server_retire(all.servers[A]);
    hf__store_context_drain(&all.context);
    all.servers[A] = NULL;
    assert_int_equal(call.done, 1);
    assert_status(&call, HF_INDETERMINATE);
    call_end(&call);
    signal_word(&allowed);
    close_topology(&all);
}

static bool says_new(int fd, unsigned connection, unsigned number,
                     const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "+NEW\r\n");
}

TEST(reset_server_is_met_at_its_new_address)
{
    topology all;
    test_call call;

    open_topology(&all, says_ok, says_new);
    all.decide = to_none;
    for (int moved = 0; moved < 2; moved++) {
        if (moved) {
            all.resolvers[A].path = path_of(all.fakes[B]);
            hf__server_reset(all.servers[A]);
        }
        for (int shared = 0; shared < 2; shared++) {
            CALL(&call, ENOUGH_MS, "SET", "k", "v");
            run(&all, &call, shared);
            assert_text(&call, moved ? "NEW" : "OK");
            call_end(&call);
        }
    }
    close_topology(&all);
}

/* A connection that hangs is left, too: well before the deadline. */
TEST(reset_ends_a_call_that_hangs)
{
    int64_t begin_ms = hf__clock_boot_ms();
    topology all;
    test_call call;

    open_topology(&all, answers_when_allowed, says_new);
    all.decide = to_none;
    CALL(&call, ENOUGH_MS, "GET", "k");
    begin(&all, &call, true);
    wait_word(&reached);
    __atomic_store_n(&all.resolvers[A].path, path_of(all.fakes[B]),
                     __ATOMIC_SEQ_CST);
    hf__server_reset(all.servers[A]);
    call_wait(&call);
    assert_text(&call, "NEW");
    assert_in_time(hf__clock_boot_ms() - begin_ms, ENOUGH_MS / 2);
    call_end(&call);
    signal_word(&allowed);
    close_topology(&all);
}

typedef struct cancel_task {
    hf__task base;
    hf__request *request;
} cancel_task;

static void run_cancel(hf__task *task)
{
    hf__pipeline_cancel(((cancel_task *)task)->request);
}

/* Whether it was written, or waits on a server that it was handed to. */
TEST(cancelled_request_completes_at_once)
{
    for (int handed = 0; handed < 2; handed++) {
        cancel_task task = {.base = {.run = run_cancel}};
        int64_t begin_ms = hf__clock_boot_ms();
        topology all;
        test_call call;

        (void)state;
        open_topology(&all, handed ? says_moved : answers_when_allowed,
                      answers_when_allowed);
        all.decide = to_b;
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        begin(&all, &call, true);
        wait_word(&reached);
        task.request = &call.request;
        hf__loop_call(all.loop, &task.base);
        call_wait(&call);
        assert_status(&call, HF_INDETERMINATE);
        assert_in_time(hf__clock_boot_ms() - begin_ms, ENOUGH_MS / 2);
        hf__loop_call(all.loop, &task.base); /* late: nothing happens */
        call_end(&call);
        signal_word(&allowed);
        close_topology(&all);
    }
}

static void replica_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)connection;
    (void)user;
    while (fake_server_read(fd, text, sizeof(text))) {
        if (!fake_server_say(fd, strcmp(text, "ROLE") == 0
                                     ? "*1\r\n$5\r\nslave\r\n"
                                     : "+OK\r\n"))
            return;
    }
}

TEST(replica_is_no_master)
{
    hf_error err = HF_ERROR_INIT;
    topology all;
    test_call call;

    open_topology(&all, says_ok, says_ok);
    all.decide = to_none;
    fake_server_stop(all.fakes[A]);
    all.fakes[A] = fake_server_start(replica_session, NULL);
    all.resolvers[A].path = path_of(all.fakes[A]);
    all.account.master_only = true;
    assert_int_equal(
        hf__server_open(all.servers[A], hf__clock_boot_ms() + 1000, &err),
        HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "not a master"));
    all.account.master_only = false;
    CALL(&call, ENOUGH_MS, "PING");
    run(&all, &call, false);
    assert_text(&call, "OK");
    call_end(&call);
    close_topology(&all);
}
