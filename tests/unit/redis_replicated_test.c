/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_replicated_test.c - the connections for replicated writes, and for
 * commands that wait for an element, of servers that come and go: requests that
 * are redirected, servers that are retired or move, and many threads at the
 * first use.
 */
#include "redis_driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "store/redis/server/route.h"
#include "store/redis/server/server.h"
#include "util/container.h"

enum { A, B, SERVERS };

/* A server's replies. */
typedef struct part {
    fake_server *fake;
    const char *write; /* the reply to a write */
    atomic_int acked;  /* to WAIT; -1: nothing */
    atomic_int waits;
    atomic_bool holds; /* does not reply to logins */
    atomic_int logins;
    atomic_int commands; /* other than WAIT */
    atomic_int delay_ms; /* before it replies to them */
    atomic_bool gone;    /* closes its connections */
    atomic_int fd;       /* of the latest */
    hf__resolver resolver;
    _Atomic(const char *) path;
    hf__server *server;
} part;

typedef struct topology {
    hf__router router;
    bool stays; /* nothing is redirected */
    hf__store_context context;
    hf__redis_account account;
    hf__loop *loop;
    part parts[SERVERS];
} topology;

static void session(int fd, unsigned connection, void *user)
{
    part *self = user;
    char text[200], line[32];
    int acked;

    (void)connection;
    while (atomic_load(&self->holds))
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    if (atomic_load(&self->gone) || !fake_server_login(fd, "7.0.0"))
        return;
    atomic_store(&self->fd, fd);
    atomic_fetch_add(&self->logins, 1);
    while (fake_server_read(fd, text, sizeof(text))) {
        if (strncmp(text, "WAIT", 4) != 0) {
            atomic_fetch_add(&self->commands, 1);
            hf__clock_sleep_until(hf__clock_boot_ms() +
                                  atomic_load(&self->delay_ms));
            if (!fake_server_say(fd, self->write))
                return;
            continue;
        }
        if (strcmp(text, "WAIT 0 1") == 0) {
            if (!fake_server_say(fd, ":0\r\n"))
                return;
            continue;
        }
        atomic_fetch_add(&self->waits, 1);
        acked = atomic_load(&self->acked);
        snprintf(line, sizeof(line), ":%d\r\n", acked);
        if (acked >= 0 && !fake_server_say(fd, line))
            return;
    }
}

static void resolver_get(hf__resolver *resolver, hf__resolved *resolved)
{
    part *self = (part *)(void *)((char *)resolver - offsetof(part, resolver));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = atomic_load(&self->path);

    memset(resolved, 0, sizeof(*resolved));
    memcpy(address.sun_path, path, strlen(path) + 1);
    memcpy(resolved->text, path, strlen(path) + 1);
    memcpy(&resolved->items[0], &address, sizeof(address));
    resolved->sizes[0] = sizeof(address);
    resolved->count = 1;
}

static void resolver_nothing(hf__resolver *resolver)
{
    (void)resolver;
}

static const hf__resolver_ops resolver_ops = {
    .get = resolver_get, .refresh = resolver_nothing, .free = resolver_nothing};

/* Everything is redirected to B, unless it stays. */
static bool on_redirect(hf__router *router, hf__server *from,
                        const hf__request *request,
                        const hf__attempts *attempts, const hf__redirect *why,
                        hf__route *route)
{
    topology *self = (topology *)router;

    (void)from;
    (void)request;
    (void)attempts;
    (void)why;
    if (self->stays)
        return false;
    hf__server_hold(self->parts[B].server);
    route->server = self->parts[B].server;
    return true;
}

static const char *path_of(const part *self)
{
    return fake_server_url(self->fake) + strlen("redis+unix://");
}

static void open_topology(topology *self, const char *write_on_a, int acked)
{
    hf__store_config config = {.connect_ms = 1000};
    hf_error err = HF_ERROR_INIT;

    memset(self, 0, sizeof(*self));
    self->router.redirect = on_redirect;
    config.loop = self->loop = hf__loop_new();
    hf__store_context_init(&self->context, &config, &self->router);
    for (int at = 0; at < SERVERS; at++) {
        part *made = &self->parts[at];

        made->write = at == A ? write_on_a : "+OK\r\n";
        atomic_init(&made->acked, at == A ? acked : 2);
        atomic_init(&made->waits, 0);
        atomic_init(&made->holds, false);
        atomic_init(&made->logins, 0);
        atomic_init(&made->commands, 0);
        atomic_init(&made->delay_ms, 0);
        atomic_init(&made->gone, false);
        atomic_init(&made->fd, -1);
        made->fake = fake_server_start(session, made);
        assert_non_null(made->fake);
        made->resolver.ops = &resolver_ops;
        atomic_init(&made->path, path_of(made));
        assert_int_equal(hf__server_new(&self->context, &self->account,
                                        &made->resolver, &made->server, &err),
                         HF_OK);
    }
}

static void close_topology(topology *self)
{
    for (int at = 0; at < SERVERS; at++) {
        if (self->parts[at].server != NULL)
            hf__server_close(self->parts[at].server);
    }
    hf__store_context_drain(&self->context);
    hf__loop_free(self->loop);
    for (int at = 0; at < SERVERS; at++)
        fake_server_stop(self->parts[at].fake);
}

/* A write on A that asks for two replicas. */
static void begin(topology *self, test_call *call, int64_t limit_ms)
{
    hf__request *request = &call->request;

    CALL(call, limit_ms, "SET", "k", "v");
    call->replicas = (hf__replicas){2, 1000};
    request->replicas = &call->replicas;
    assert_false(hf__store_context_refuse(&self->context, request));
    hf__server_submit(self->parts[A].server, &request, 1);
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

/* ------------------------------------------------------------------ tests */

TEST(moved_write_is_counted_where_it_was_done)
{
    topology all;
    test_call call;

    open_topology(&all, "-MOVED 3999 10.0.0.2:6381\r\n", 0);
    for (int i = 0; i < 3; i++) {
        begin(&all, &call, ENOUGH_MS);
        expect(&call, 2);
        assert_int_equal(call.request.sends, 1);
    }
    assert_int_equal(atomic_load(&all.parts[A].waits), 0);
    close_topology(&all);
}

/* What is held has been applied, and completes here; later requests are
 * redirected. */
TEST(retired_server_still_counts_what_it_did)
{
    hf__server *server;
    test_call before, after;
    topology all;

    open_topology(&all, "+OK\r\n", -1);
    begin(&all, &before, 600);
    wait_for(&all.parts[A].waits, 1);
    server = all.parts[A].server;
    hf__server_hold(server); /* as a caller that found it before */
    hf__server_retire(server);
    begin(&all, &after, ENOUGH_MS);
    expect(&after, 2);
    expect(&before, -1);
    all.parts[A].server = NULL;
    hf__server_release(server);
    hf__store_context_drain(&all.context);
    close_topology(&all);
}

/* Also a connection that is first used when the server is being retired:
 * nothing may keep the server alive. */
TEST(retired_server_makes_no_connection_that_stays)
{
    hf__server *server;
    test_call call;
    topology all;

    open_topology(&all, "+OK\r\n", 2);
    begin(&all, &call, ENOUGH_MS); /* the loop runs from now on */
    expect(&call, 2);
    server = all.parts[A].server;
    hf__server_hold(server);
    hf__server_retire(server);
    for (uint32_t replicas = 1; replicas < 5; replicas++)
        assert_non_null(hf__side_conns_for_replicas(&server->side, replicas));
    begin(&all, &call, ENOUGH_MS);
    expect(&call, 2);
    all.parts[A].server = NULL;
    hf__server_release(server);
    hf__store_context_drain(&all.context);
    assert_true(atomic_load(&all.parts[B].waits) > 0);
    close_topology(&all);
}

TEST(moved_server_is_met_at_its_new_address)
{
    test_call call;
    topology all;

    open_topology(&all, "+OK\r\n", -1);
    begin(&all, &call, ENOUGH_MS);
    wait_for(&all.parts[A].waits, 1);
    atomic_store(&all.parts[A].path, path_of(&all.parts[B]));
    hf__server_reset(all.parts[A].server);
    expect(&call, -1); /* its connection was closed */
    begin(&all, &call, ENOUGH_MS);
    expect(&call, 2);
    assert_int_equal(atomic_load(&all.parts[A].waits), 1);
    close_topology(&all);
}

TEST(server_that_was_never_used_can_go)
{
    topology all;

    open_topology(&all, "+OK\r\n", 2);
    assert_non_null(hf__side_conns_for_replicas(&all.parts[A].server->side, 1));
    hf__server_retire(all.parts[A].server);
    all.parts[A].server = NULL;
    assert_non_null(hf__side_conns_for_replicas(&all.parts[B].server->side, 1));
    close_topology(&all);
}

/* All threads get the same connection, whichever was first. */
typedef struct first_use {
    pthread_t thread;
    hf__server *server;
    const atomic_bool *go;
    hf__pipeline *found[HF_REPLICAS_MAX];
} first_use;

static void *use(void *user)
{
    first_use *self = user;

    while (!atomic_load(self->go))
        ;
    for (uint32_t i = 0; i < HF_REPLICAS_MAX; i++)
        self->found[i] =
            hf__side_conns_for_replicas(&self->server->side, i + 1);
    return NULL;
}

TEST(one_connection_is_made_for_each_number)
{
    first_use threads[4];
    atomic_bool go;
    topology all;

    open_topology(&all, "+OK\r\n", 2);
    atomic_init(&go, false);
    for (size_t t = 0; t < 4; t++) {
        threads[t].server = all.parts[A].server;
        threads[t].go = &go;
        assert_int_equal(
            pthread_create(&threads[t].thread, NULL, use, &threads[t]), 0);
    }
    atomic_store(&go, true);
    for (size_t t = 0; t < 4; t++)
        pthread_join(threads[t].thread, NULL);
    for (size_t i = 0; i < HF_REPLICAS_MAX; i++) {
        assert_non_null(threads[0].found[i]);
        for (size_t t = 1; t < 4; t++)
            assert_ptr_equal(threads[t].found[i], threads[0].found[i]);
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(threads[0].found[i], threads[0].found[j]);
    }
    close_topology(&all);
}

/* ------------------------------------------------------- commands that wait */

/* A server that says nothing. */
#define SILENT ""

/* Without a limit. */
static hf__request *make_wait(test_call *call, int64_t limit_ms)
{
    CALL(call, limit_ms, "BLPOP", "k", "0");
    call->request.wait_ms = INT64_MAX;
    return &call->request;
}

/* On A. */
static void begin_wait(topology *self, test_call *call)
{
    hf__request *request = make_wait(call, ENOUGH_MS);

    assert_false(hf__store_context_refuse(&self->context, request));
    hf__server_submit(self->parts[A].server, &request, 1);
}

TEST(command_that_waits_is_redirected)
{
    static const char *const refusals[] = {
        "-UNBLOCKED force unblock from blocking operation\r\n",
        "-MOVED 3999 10.0.0.2:6381\r\n"};

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        topology all;
        test_call call;

        open_topology(&all, refusals[i], 0);
        begin_wait(&all, &call);
        call_wait(&call);
        assert_text(&call, "OK");
        assert_int_equal(call.request.sends, 1);
        call_end(&call);
        close_topology(&all);
    }
}

/* XREAD with `$` that A refuses after so long. */
static hf_status read_new(const char *refusal, int delay_ms)
{
    topology all;
    test_call call;
    hf__request *request = &call.request;
    hf_status status;

    open_topology(&all, refusal, 0);
    atomic_store(&all.parts[A].delay_ms, delay_ms);
    CALL(&call, ENOUGH_MS, "XREAD", "BLOCK", "0", "STREAMS", "s", "$");
    call.request.wait_ms = INT64_MAX;
    assert_false(hf__store_context_refuse(&all.context, request));
    hf__server_submit(all.parts[A].server, &request, 1);
    call_wait(&call);
    status = call.request.status;
    assert_int_equal(atomic_load(&all.parts[B].commands), status == HF_OK);
    call_end(&call);
    close_topology(&all);
    return status;
}

/* It would miss what was added before it waits at the other server. One that is
 * refused at once has not waited: on a busy machine, at once is one of some. */
TEST(read_of_what_is_new_is_not_redirected_once_it_has_waited)
{
    static const char moved[] = "-MOVED 3999 10.0.0.2:6381\r\n";
    int tries = 0;

    assert_int_equal(
        read_new("-UNBLOCKED force unblock from blocking operation\r\n", 0),
        HF_UNAVAILABLE);
    assert_int_equal(read_new(moved, 300), HF_UNAVAILABLE);
    assert_int_equal(read_new("-CLUSTERDOWN The cluster is down\r\n", 300),
                     HF_UNAVAILABLE);
    while (read_new(moved, 0) != HF_OK)
        assert_true(++tries < 20);
}

/* It is not kept by a command that waits without a limit. */
TEST(command_that_waits_at_a_retired_server_is_in_doubt)
{
    topology all;
    test_call call;

    open_topology(&all, SILENT, 0);
    begin_wait(&all, &call);
    wait_for(&all.parts[A].commands, 1);
    hf__server_retire(all.parts[A].server);
    all.parts[A].server = NULL;
    call_wait(&call);
    assert_status(&call, HF_INDETERMINATE);
    call_end(&call);
    hf__store_context_drain(&all.context);
    close_topology(&all);
}

TEST(command_that_waits_at_a_server_that_moves_is_in_doubt)
{
    topology all;
    test_call call;

    open_topology(&all, SILENT, 0);
    begin_wait(&all, &call);
    wait_for(&all.parts[A].commands, 1);
    atomic_store(&all.parts[A].path, path_of(&all.parts[B]));
    hf__server_reset(all.parts[A].server);
    call_wait(&call);
    assert_status(&call, HF_INDETERMINATE);
    call_end(&call);
    begin_wait(&all, &call);
    call_wait(&call);
    assert_text(&call, "OK");
    call_end(&call);
    close_topology(&all);
}

typedef struct late_cancel {
    hf__task task;
    hf__task cancel;
    part *part;
    hf__request *request;
} late_cancel;

static void run_cancel(hf__task *task)
{
    late_cancel *self = hf__container_of(task, late_cancel, cancel);

    hf__pipeline_cancel(self->request);
}

/* The reply to the login is there when the next turn of the loop begins: with
 * the cancel, and then that reply. */
static void cancel_late(hf__task *task)
{
    late_cancel *self = hf__container_of(task, late_cancel, task);
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;

    atomic_store(&self->part->holds, false);
    while (atomic_load(&self->part->logins) == 0 &&
           hf__clock_boot_ms() < until_ms)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    hf__loop_post(self->part->server->node.context->loop, &self->cancel);
}

TEST(command_that_is_cancelled_during_the_login_is_not_sent)
{
    topology all;
    test_call call;
    late_cancel late = {.task = {.run = cancel_late},
                        .cancel = {.run = run_cancel}};

    open_topology(&all, SILENT, 0);
    late.part = &all.parts[A];
    late.request = &call.request;
    atomic_store(&late.part->holds, true);
    begin_wait(&all, &call);
    while (fake_server_count(late.part->fake) == 0)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    hf__clock_sleep_until(hf__clock_boot_ms() + 100);
    hf__loop_call(all.loop, &late.task);
    call_wait(&call);
    assert_status(&call, HF_CANCELLED);
    assert_int_equal(call.request.sends, 0);
    call_end(&call);
    close_topology(&all);
}

typedef struct last_wait {
    hf__task task;
    part *part;
    hf__request *request;
} last_wait;

/* The connection is broken when the loop thread writes the command. */
static void submit_and_break(hf__task *task)
{
    last_wait *self = (last_wait *)(void *)task;

    hf__server_submit(self->part->server, &self->request, 1);
    atomic_store(&self->part->gone, true);
    shutdown(atomic_load(&self->part->fd), SHUT_RDWR);
}

TEST(command_that_waits_and_cannot_be_sent_ends_in_time)
{
    topology all;
    test_call call;
    last_wait last = {.task = {.run = submit_and_break}};

    open_topology(&all, "+OK\r\n", 0);
    all.stays = true;
    begin_wait(&all, &call);
    call_wait(&call);
    assert_text(&call, "OK");
    call_end(&call);
    last.part = &all.parts[A];
    last.request = make_wait(&call, 300);
    hf__loop_call(all.loop, &last.task);
    call_wait(&call);
    assert_status(&call, HF_UNAVAILABLE);
    assert_int_equal(call.request.sends, 0);
    call_end(&call);
    close_topology(&all);
}

/* A close waits a second for those that do not end. */
TEST(commands_that_wait_are_bounded_in_number)
{
    hf__request request;
    topology all;

    open_topology(&all, SILENT, 0);
    assert_int_equal(hf__loop_start(all.loop, NULL), HF_OK);
    hf__request_init(&request);
    for (size_t i = 0; i < HF__SIDE_CONNS_WAITING; i++)
        assert_non_null(
            hf__side_conns_take(&all.parts[A].server->side, &request));
    assert_null(hf__side_conns_take(&all.parts[A].server->side, &request));
    assert_int_equal(request.status, HF_UNAVAILABLE);
    close_topology(&all);
}
