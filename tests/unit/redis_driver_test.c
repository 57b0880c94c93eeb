/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_driver_test.c - the driver and a real server that works: login,
 * requests of all kinds, errors, many threads, order.
 */
#include "redis_driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

#include "script/script.h"
#include "util/mem.h"
#include "util/sha1.h"

ALL_TESTS_WITH(driver_set_up, driver_tear_down);

static int flush(void **state)
{
    driver_fixture *self = *state;
    test_call call;

    assert_int_equal(RUN(&self->driver, &call, "FLUSHALL"), HF_OK);
    call_end(&call);
    return 0;
}

EACH_TEST_WITH(flush, NULL);

/* ------------------------------------------------------------------- login */

TEST_WITH(open_with_password_and_database, NULL, NULL)
{
    redis_server *server = redis_server_start("s3cret");
    char url[200];
    test_driver driver;
    hf_error err = HF_ERROR_INIT;
    test_call call;

    assert_non_null(server);
    snprintf(url, sizeof(url), "%s?db=3", redis_server_unix_url(server));
    assert_int_equal(driver_try_open(&driver, url, NULL, "s3cret", &err),
                     HF_OK);
    RUN(&driver, &call, "SET", "k", "v");
    assert_text(&call, "OK");
    call_end(&call);
    command(server, "SELECT 3\r\nGET k", "+OK\r\n$1\r\nv\r\n");
    driver_close(&driver);
    snprintf(url, sizeof(url), "%s/3", redis_server_tcp_url(server));
    assert_int_equal(driver_try_open(&driver, url, "default", "s3cret", &err),
                     HF_OK);
    RUN(&driver, &call, "GET", "k");
    assert_text(&call, "v");
    call_end(&call);
    driver_close(&driver);
    redis_server_stop(server);
}

TEST_WITH(open_with_wrong_password_is_denied_and_not_shown, NULL, NULL)
{
    redis_server *server = redis_server_start("s3cret");
    const char *url = redis_server_unix_url(server);
    test_driver driver;
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(driver_try_open(&driver, url, NULL, "wr0ng", &err),
                     HF_DENIED);
    assert_string_equal(err.message, "the server refused the password");
    assert_int_equal(driver_try_open(&driver, url, "stranger", "s3cret", &err),
                     HF_DENIED);
    assert_null(strstr(err.message, "s3cret"));
    assert_int_equal(driver_try_open(&driver, url, NULL, NULL, &err),
                     HF_DENIED);
    assert_string_equal(err.message, "the server requires a password");
    redis_server_stop(server);
}

TEST_WITH(open_with_needless_password_is_denied, NULL, NULL)
{
    driver_fixture *self = *state;
    test_driver driver;
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(driver_try_open(&driver,
                                     redis_server_unix_url(self->server), NULL,
                                     "pw", &err),
                     HF_DENIED);
    assert_non_null(strstr(err.message, "has none"));
}

TEST_WITH(open_with_impossible_database_is_invalid, NULL, NULL)
{
    driver_fixture *self = *state;
    char url[200];
    test_driver driver;
    hf_error err = HF_ERROR_INIT;

    snprintf(url, sizeof(url), "%s?db=99", redis_server_unix_url(self->server));
    assert_int_equal(driver_try_open(&driver, url, NULL, NULL, &err),
                     HF_INVALID);
    assert_string_equal(err.message, "DB index is out of range");
}

TEST_WITH(open_without_server_is_unavailable, NULL, NULL)
{
    test_driver driver;
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(driver_try_open(&driver, "redis+unix:///nonexistent/s",
                                     NULL, NULL, &err),
                     HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "/nonexistent/s"));
    assert_int_not_equal(err.sys_errno, 0);
    assert_int_equal(
        driver_try_open(&driver, "redis://127.0.0.1:1", NULL, NULL, &err),
        HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "127.0.0.1:1"));
    assert_int_equal(driver_try_open(&driver, "redis://no.such.host.invalid",
                                     NULL, NULL, &err),
                     HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "no.such.host.invalid"));
}

TEST_WITH(open_without_a_descriptor_is_a_system_error, NULL, NULL)
{
    driver_fixture *self = *state;
    struct rlimit before;
    struct rlimit none;
    hf_error err = HF_ERROR_INIT;
    test_driver driver;
    hf_status status;

    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
    status = driver_try_open(&driver, redis_server_unix_url(self->server), NULL,
                             NULL, &err);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(status, HF_SYSTEM);
    assert_int_equal(err.sys_errno, EMFILE);
}

TEST_WITH(client_has_a_name_on_the_server, NULL, NULL)
{
    driver_fixture *self = *state;
    char answer[4096];

    assert_true(redis_server_command(self->server, "CLIENT LIST", answer,
                                     sizeof(answer)));
    assert_non_null(strstr(answer, " name=holdfast "));
}

TEST_WITH(server_may_refuse_hello_and_the_name, NULL, NULL)
{
    driver_fixture *self = *state;
    test_driver driver;
    hf_error err = HF_ERROR_INIT;
    test_call call;

    command(self->server, "ACL SETUSER plain on >pw ~* &* +get +auth",
            "+OK\r\n");
    if (driver_try_open(&driver, redis_server_unix_url(self->server), "plain",
                        "pw", &err) != HF_OK)
        fail_msg("%s", err.message);
    RUN(&driver, &call, "GET", "none");
    assert_status(&call, HF_OK);
    call_end(&call);
    RUN(&driver, &call, "SET", "a", "b");
    assert_status(&call, HF_DENIED);
    call_end(&call);
    driver_close(&driver);
}

/* ---------------------------------------------------------------- requests */

TEST(tcp_works_like_the_unix_socket)
{
    driver_fixture *self = *state;
    test_driver driver;
    test_call call;

    driver_open(&driver, redis_server_tcp_url(self->server));
    RUN(&driver, &call, "SET", "k", "v");
    assert_text(&call, "OK");
    call_end(&call);
    CALL(&call, ENOUGH_MS, "GET", "k");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_text(&call, "v");
    call_end(&call);
    driver_close(&driver);
}

TEST(reply_keeps_every_kind)
{
    driver_fixture *self = *state;
    test_call call;
    const hf_reply *items;

    RUN(&self->driver, &call, "EVAL",
        "return {1, false, 'two', redis.status_reply('FINE'), "
        "redis.error_reply('BAD luck'), {3}, {}}",
        "0");
    assert_status(&call, HF_OK);
    assert_int_equal(call.request.reply.kind, HF_REPLY_ARRAY);
    assert_int_equal(call.request.reply.array.count, 7);
    items = call.request.reply.array.items;
    assert_int_equal(items[0].integer, 1);
    assert_int_equal(items[1].kind, HF_REPLY_NIL);
    assert_string_equal(items[2].bytes.data, "two");
    assert_int_equal(items[3].kind, HF_REPLY_STATUS);
    assert_string_equal(items[3].bytes.data, "FINE");
    assert_int_equal(items[4].kind, HF_REPLY_ERROR);
    assert_string_equal(items[4].bytes.data, "BAD luck");
    assert_int_equal(items[5].array.items[0].integer, 3);
    assert_int_equal(items[6].array.count, 0);
    call_end(&call);
}

TEST(large_value_comes_back_whole)
{
    driver_fixture *self = *state;
    const size_t size = 20 << 20;
    char *value = malloc(size);
    test_call call;

    for (size_t i = 0; i < size; i++)
        value[i] = (char)(i * 31 + i / 4096);
    for (int submitted = 0; submitted < 2; submitted++) {
        CALL(&call, ENOUGH_MS, "SET", "large", "");
        call.words[2] = hf_view(value, size);
        if (submitted)
            call_submit(&self->driver, &call);
        else
            call_perform(&self->driver, &call);
        if (submitted)
            call_wait(&call);
        assert_text(&call, "OK");
        call_end(&call);
        CALL(&call, ENOUGH_MS, "GET", "large");
        if (submitted)
            call_submit(&self->driver, &call);
        else
            call_perform(&self->driver, &call);
        if (submitted)
            call_wait(&call);
        assert_status(&call, HF_OK);
        assert_int_equal(call.request.reply.bytes.size, size);
        assert_memory_equal(call.request.reply.bytes.data, value, size);
        call_end(&call);
    }
    free(value);
}

TEST(request_that_is_too_long_is_invalid)
{
    driver_fixture *self = *state;
    static char byte;
    test_call call;

    CALL(&call, ENOUGH_MS, "SET", "k", "");
    call.words[2] = hf_view(&byte, (size_t)1 << 30);
    call_perform(&self->driver, &call);
    assert_status(&call, HF_INVALID);
    assert_int_equal(call.request.sends, 0);
    call_end(&call);
}

TEST(request_without_time_is_unavailable)
{
    driver_fixture *self = *state;
    test_call call;

    CALL(&call, 0, "SET", "k", "v");
    assert_int_equal(call_perform(&self->driver, &call), HF_UNAVAILABLE);
    assert_int_equal(call.request.sends, 0);
    call_end(&call);
    CALL(&call, -5, "SET", "k", "v");
    call_submit(&self->driver, &call);
    assert_int_equal(call_wait(&call), HF_UNAVAILABLE);
    call_end(&call);
    RUN(&self->driver, &call, "EXISTS", "k");
    assert_integer(&call, 0);
    call_end(&call);
}

/* ----------------------------------------------------------------- scripts */

/* The script {..., tostring(ARGV[1])} under a digest that is not loaded. */
static void make_script(hf__script *script, char *source, size_t size,
                        char sha1[HF__SHA1_HEX_SIZE])
{
    static int number;

    snprintf(source, size, "return ARGV[1] .. '%d'", number++);
    hf__sha1_hex(source, strlen(source), sha1);
    *script = (hf__script)HF__USER_SCRIPT(source, strlen(source), sha1);
}

static void call_script(test_call *call, const hf__script *script,
                        const char *word)
{
    CALL(call, ENOUGH_MS, word);
    call->request.script = script;
}

TEST(script_is_loaded_when_the_server_lacks_it)
{
    driver_fixture *self = *state;
    char sha1[HF__SHA1_HEX_SIZE];
    char source[64];
    hf__script script;
    test_call call;

    make_script(&script, source, sizeof(source), sha1);
    for (int round = 0; round < 4; round++) {
        call_script(&call, &script, "x");
        call_perform(&self->driver, &call);
        assert_status(&call, HF_OK);
        /* What was refused for want of the script does not count. */
        assert_int_equal(call.request.sends, 1);
        call_end(&call);
        if (round % 2 == 1)
            command(self->server, "SCRIPT FLUSH", "+OK\r\n");
    }
}

TEST(submitted_script_is_loaded_when_the_server_lost_it)
{
    driver_fixture *self = *state;
    char sha1[HF__SHA1_HEX_SIZE];
    char source[64];
    hf__script script;
    test_call call;

    make_script(&script, source, sizeof(source), sha1);
    for (int round = 0; round < 2; round++) {
        call_script(&call, &script, "x");
        call_submit(&self->driver, &call);
        call_wait(&call);
        assert_status(&call, HF_OK);
        assert_int_equal(call.request.sends, 1);
        call_end(&call);
        command(self->server, "SCRIPT FLUSH", "+OK\r\n");
    }
}

TEST(first_uses_of_a_script_in_one_call_keep_their_order)
{
    enum { COUNT = 50 };
    driver_fixture *self = *state;
    hf__request *requests[COUNT];
    char sha1[HF__SHA1_HEX_SIZE];
    char source[] = "return redis.call('incr', KEYS[1])";
    hf__script script = HF__USER_SCRIPT(source, sizeof(source) - 1, sha1);
    static test_call calls[COUNT];

    hf__sha1_hex(source, strlen(source), sha1);
    command(self->server, "SCRIPT FLUSH", "+OK\r\n");
    for (size_t i = 0; i < COUNT; i++) {
        call_script(&calls[i], &script, "counter");
        calls[i].request.key_count = 1;
        requests[i] = &calls[i].request;
    }
    self->driver.store->ops->submit(self->driver.store, requests, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        call_wait(&calls[i]);
        assert_integer(&calls[i], (int64_t)i + 1);
        call_end(&calls[i]);
    }
}

TEST(loading_a_script_with_a_syntax_error_says_so)
{
    driver_fixture *self = *state;
    test_call call;

    RUN(&self->driver, &call, "SCRIPT", "LOAD", "this is not Lua");
    assert_status(&call, HF_SCRIPT);
    call_end(&call);
}

TEST(own_script_runs)
{
    driver_fixture *self = *state;
    test_call call;

    CALL(&call, ENOUGH_MS, "name", "hf:token:{name}", "hf:wait:{name}", "me",
         "10000", "", "0");
    call.request.script = &hf__scripts[HF__SCRIPT_LOCK_ACQUIRE];
    call.request.key_count = 3;
    call_perform(&self->driver, &call);
    assert_status(&call, HF_OK);
    assert_int_equal(call.request.reply.kind, HF_REPLY_INTEGER);
    call_end(&call);
    command(self->server, "GETRANGE name 0 2", "$3\r\nme=\r\n");
}

/* ------------------------------------------------------------------ errors */

TEST(errors_have_their_status)
{
    driver_fixture *self = *state;
    test_driver *driver = &self->driver;
    test_call call;

    RUN(driver, &call, "LPUSH", "list", "x");
    call_end(&call);
    RUN(driver, &call, "GET", "list");
    assert_status(&call, HF_WRONG_TYPE);
    call_end(&call);
    RUN(driver, &call, "SET", "k", "v", "EX", "x");
    assert_status(&call, HF_INVALID);
    assert_string_equal(call.request.error.message,
                        "value is not an integer or out of range");
    call_end(&call);
    RUN(driver, &call, "NOSUCH", "k");
    assert_status(&call, HF_UNSUPPORTED);
    call_end(&call);
}

TEST(script_errors_have_their_status_and_line)
{
    driver_fixture *self = *state;
    static const struct {
        const char *source;
        hf_status status;
        const char *message;
    } rows[] = {
        {"\nreturn redis.call('get', 'list')", HF_WRONG_TYPE, "(line 2)"},
        {"\n\nerror('boom')", HF_SCRIPT, "boom (line 3)"},
        {"return redis.error_reply('MINE no')", HF_SCRIPT, "MINE no"},
        {"return redis.call('nosuch')", HF_SCRIPT, "(line 1)"},
        {"return redis.call('set', 'k')", HF_SCRIPT, "(line 1)"},
        {"this is not Lua", HF_SCRIPT, "compiling"},
    };
    test_call call;

    RUN(&self->driver, &call, "LPUSH", "list", "x");
    call_end(&call);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char sha1[HF__SHA1_HEX_SIZE];
        hf__script script =
            HF__USER_SCRIPT(rows[i].source, strlen(rows[i].source), sha1);

        hf__sha1_hex(script.source, script.source_size, sha1);
        call_script(&call, &script, "x");
        call_perform(&self->driver, &call);
        assert_status(&call, rows[i].status);
        if (strstr(call.request.error.message, rows[i].message) == NULL)
            fail_msg("%s", call.request.error.message);
        call_end(&call);
    }
}

TEST(server_without_memory_is_full)
{
    driver_fixture *self = *state;
    test_call call;

    command(self->server, "CONFIG SET maxmemory 1mb", "+OK\r\n");
    RUN(&self->driver, &call, "SET", "k", "v");
    command(self->server, "CONFIG SET maxmemory 0", "+OK\r\n");
    assert_status(&call, HF_FULL);
    assert_non_null(strstr(call.request.error.message, "maxmemory"));
    call_end(&call);
}

TEST(write_to_a_replica_is_unavailable)
{
    driver_fixture *self = *state;
    test_call call;

    command(self->server, "REPLICAOF 127.0.0.1 1", "+OK\r\n");
    RUN(&self->driver, &call, "SET", "k", "v");
    command(self->server, "REPLICAOF NO ONE", "+OK\r\n");
    assert_status(&call, HF_UNAVAILABLE);
    assert_non_null(strstr(call.request.error.message, "replica"));
    call_end(&call);
    RUN(&self->driver, &call, "SET", "k", "v");
    assert_text(&call, "OK");
    call_end(&call);
}

TEST(busy_server_is_waited_for)
{
    driver_fixture *self = *state;
    char sha1[HF__SHA1_HEX_SIZE];
    char source[] = "while true do end";
    hf__script script = HF__USER_SCRIPT(source, sizeof(source) - 1, sha1);
    test_call endless;
    test_call other;
    char answer[100];

    hf__sha1_hex(source, strlen(source), sha1);
    command(self->server, "CONFIG SET busy-reply-threshold 10", "+OK\r\n");
    call_script(&endless, &script, "x");
    call_submit(&self->driver, &endless);
    do {
        assert_true(redis_server_command(self->server, "GET k", answer,
                                         sizeof(answer)));
    } while (strncmp(answer, "-BUSY", 5) != 0);
    CALL(&other, 500, "GET", "k");
    /* The last try may lie at the server when time is up. */
    if (call_perform(&self->driver, &other) != HF_INDETERMINATE) {
        assert_int_equal(other.request.status, HF_UNAVAILABLE);
        if (strstr(other.request.error.message, "BUSY") == NULL)
            fail_msg("%s", other.request.error.message);
        assert_int_equal(other.request.sends, 0);
    }
    call_end(&other);
    CALL(&other, ENOUGH_MS, "GET", "k");
    assert_true(redis_server_command(self->server, "SCRIPT KILL", answer,
                                     sizeof(answer)));
    if (call_perform(&self->driver, &other) != HF_OK)
        fail_msg("%s", other.request.error.message);
    call_end(&other);
    call_wait(&endless);
    assert_status(&endless, HF_SCRIPT);
    call_end(&endless);
}

/* ----------------------------------------------------------- many at once */

enum { THREADS = 16, ROUNDS = 500 };

typedef struct thread_run {
    driver_fixture *fixture;
    int number;
    int wrong;
    pthread_t thread;
} thread_run;

/* Each thread writes and reads values that only it knows. */
static void *run_thread(void *user)
{
    thread_run *self = user;
    char key[32];
    char value[64];
    test_call call;

    snprintf(key, sizeof(key), "thread%d", self->number);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(value, sizeof(value), "%d of thread %d", i, self->number);
        RUN(&self->fixture->driver, &call, "SET", key, value);
        if (call.request.status != HF_OK)
            self->wrong++;
        call_end(&call);
        RUN(&self->fixture->driver, &call, "GET", key);
        if (call.request.status != HF_OK ||
            strcmp(call.request.reply.bytes.data, value) != 0)
            self->wrong++;
        call_end(&call);
    }
    return NULL;
}

TEST(each_of_16_threads_gets_its_own_replies)
{
    thread_run runs[THREADS];

    for (int i = 0; i < THREADS; i++) {
        runs[i] = (thread_run){.fixture = *state, .number = i};
        assert_int_equal(
            pthread_create(&runs[i].thread, NULL, run_thread, &runs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(runs[i].thread, NULL);
        assert_int_equal(runs[i].wrong, 0);
    }
}

TEST(ten_thousand_requests_of_one_call_run_in_order)
{
    enum { COUNT = 10000 };
    driver_fixture *self = *state;
    test_call *calls = calloc(COUNT, sizeof(*calls));
    hf__request **requests = calloc(COUNT, sizeof(*requests));

    __atomic_store_n(&calls_done, 0, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < COUNT; i++) {
        CALL(&calls[i], ENOUGH_MS, "INCR", "counter");
        requests[i] = &calls[i].request;
    }
    self->driver.store->ops->submit(self->driver.store, requests, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        call_wait(&calls[i]);
        assert_integer(&calls[i], (int64_t)i + 1);
        assert_int_equal(calls[i].order, i + 1);
        call_end(&calls[i]);
    }
    free(requests);
    free(calls);
}

/* A request that submits the next one from its completion. */
typedef struct call_chain {
    test_call call;
    test_driver *driver;
    int left;
    uint32_t done;
} call_chain;

static void next_in_chain(hf__request *request)
{
    call_chain *self = request->user;

    call_end(&self->call);
    if (request->status != HF_OK || self->left-- == 0) {
        __atomic_store_n(&self->done, 1, __ATOMIC_SEQ_CST);
        hf__futex_wake_all(&self->done, false);
        return;
    }
    CALL(&self->call, ENOUGH_MS, "INCR", "chain");
    self->call.request.on_done = next_in_chain;
    self->call.request.user = self;
    call_submit(self->driver, &self->call);
}

TEST(completion_may_submit_the_same_request_again)
{
    driver_fixture *self = *state;
    call_chain chain = {.driver = &self->driver, .left = 99};
    test_call call;

    CALL(&chain.call, ENOUGH_MS, "INCR", "chain");
    chain.call.request.on_done = next_in_chain;
    chain.call.request.user = &chain;
    call_submit(&self->driver, &chain.call);
    while (__atomic_load_n(&chain.done, __ATOMIC_SEQ_CST) == 0)
        hf__futex_wait(&chain.done, 0, INT64_MAX, false);
    RUN(&self->driver, &call, "GET", "chain");
    assert_text(&call, "100");
    call_end(&call);
}

/* ------------------------------------------------------------------ memory */

/* Like driver_try_open(), with an allocation of the driver's failing. */
static hf_status open_failing(test_driver *driver, const char *url, long after,
                              hf_error *err)
{
    hf__url parsed;
    hf__store_config config = {.url = &parsed, .connect_ms = 1000};
    hf_status status;

    assert_int_equal(hf__url_parse(url, &parsed, err), HF_OK);
    driver->loop = config.loop = hf__loop_new();
    hf__alloc_fail_after(after);
    status = hf__store_open(&config, &driver->store, err);
    if (status != HF_OK)
        hf__alloc_fail_after(-1);
    hf__url_done(&parsed);
    if (status != HF_OK)
        hf__loop_free(driver->loop);
    return status;
}

/* Everything but the loop thread, with each allocation failing in turn. */
TEST(no_memory_is_reported_and_nothing_leaks)
{
    driver_fixture *self = *state;
    int failures = 0;

    for (long after = 0; after < 100; after++) {
        hf_error err = HF_ERROR_INIT;
        test_driver driver;
        hf_status status;
        test_call call;

        status = open_failing(&driver, redis_server_unix_url(self->server),
                              after, &err);
        if (status == HF_OK) {
            CALL(&call, ENOUGH_MS, "EVAL", "return {1, string.rep('x', 9999)}",
                 "0");
            status = call_perform(&driver, &call);
            call_end(&call);
            driver_close(&driver);
        }
        hf__alloc_fail_after(-1);
        if (status == HF_OK)
            break;
        assert_int_equal(status, HF_NO_MEMORY);
        failures++;
    }
    assert_in_range(failures, 5, 50);
}

/* ---------------------------------------------------------------- describe */

typedef struct line_list {
    char text[4096];
} line_list;

static void take_line(void *user, const char *name, const char *value)
{
    line_list *self = user;
    size_t used = strlen(self->text);

    snprintf(self->text + used, sizeof(self->text) - used, "%s=%s\n", name,
             value);
}

TEST(describe_tells_kind_address_and_version)
{
    driver_fixture *self = *state;
    line_list lines = {""};

    self->driver.store->ops->describe(self->driver.store, take_line, &lines);
    assert_non_null(strstr(lines.text, "store=server on a unix socket\n"));
    assert_non_null(strstr(lines.text, redis_server_socket_path(self->server)));
    assert_non_null(strstr(lines.text, "_version="));
    assert_non_null(strstr(lines.text, "maxmemory_policy=noeviction\n"));
    assert_int_equal(
        self->driver.store->ops->shard(self->driver.store, hf_str("k")), 0);
    assert_int_equal(self->driver.store->capabilities,
                     HF__CAP_EVENTS | HF__CAP_REPLICAS | HF__CAP_WAITS);
}
