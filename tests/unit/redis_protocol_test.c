/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_protocol_test.c - what the choice between RESP2 and RESP3 changes
 * (docs/adr/0018), what the login sends, and what is learnt from it.
 */
#include "redis_driver.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/redis/events/event_conn.h"
#include "store/redis/server/server.h"
#include "store/redis/wire/resp.h"
#include "support/slowness.h"

#define TEXT_SIZE 4096

static redis_server *the_server;

static int start_server(void **state)
{
    (void)state;
    the_server = redis_server_start(NULL);
    return the_server != NULL ? 0 : -1;
}

static int stop_server(void **state)
{
    (void)state;
    redis_server_stop(the_server);
    return 0;
}

ALL_TESTS_WITH(start_server, stop_server);

/* A connection that has sent HELLO 2 or 3. */
typedef struct raw {
    int fd;
    hf__buf in;
} raw;

/* As text: what a caller of the store would see of a reply. */
static size_t print(const hf_reply *reply, char *text, size_t size)
{
    size_t used = 0;

    switch (reply->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        return (size_t)snprintf(text, size, "nil ");
    case HF_REPLY_INTEGER:
        return (size_t)snprintf(text, size, "%lld ", (long long)reply->integer);
    case HF_REPLY_ARRAY:
        used = (size_t)snprintf(text, size, "[ ");
        for (size_t at = 0; at < reply->array.count; at++)
            used += print(&reply->array.items[at], text + used, size - used);
        return used + (size_t)snprintf(text + used, size - used, "] ");
    default:
        return (size_t)snprintf(text, size, "%c'%s' ",
                                reply->kind == HF_REPLY_STRING   ? '$'
                                : reply->kind == HF_REPLY_STATUS ? '+'
                                                                 : '-',
                                reply->bytes.data);
    }
}

/* Run a command; its reply, as text. */
static void ask(raw *self, char text[TEXT_SIZE], const char *const *words,
                size_t count)
{
    hf__resp_result result = HF__RESP_MORE;
    hf__resp resp;
    hf__arena arena;
    hf_reply reply;
    hf__buf out;

    hf__buf_init(&out, 1 << 20);
    hf__arena_init(&arena);
    assert_true(hf__resp_put_words(&out, words, count));
    assert_int_equal(send(self->fd, hf__buf_front(&out), hf__buf_size(&out), 0),
                     hf__buf_size(&out));
    hf__resp_begin(&resp, &arena, &reply);
    while (result == HF__RESP_MORE) {
        ssize_t got = recv(self->fd, hf__buf_reserve(&self->in, 4096), 4096, 0);

        assert_true(got > 0);
        hf__buf_added(&self->in, (size_t)got);
        result = hf__resp_feed(&resp, &self->in);
    }
    assert_int_equal(result, HF__RESP_DONE);
    assert_int_equal(hf__buf_size(&self->in), 0);
    print(&reply, text, TEXT_SIZE);
    hf__arena_free(&arena);
    hf__buf_done(&out);
}

#define ASK(self, text, ...)                                                   \
    ask(self, text, (const char *const[]){__VA_ARGS__},                        \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void raw_open(raw *self, const char *protocol)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = redis_server_socket_path(the_server);
    char text[TEXT_SIZE];

    memcpy(address.sun_path, path, strlen(path) + 1);
    self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        connect(self->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    hf__buf_init(&self->in, 1 << 20);
    ASK(self, text, "HELLO", protocol);
    assert_non_null(strstr(text, "$'proto'"));
}

static void raw_close(raw *self)
{
    close(self->fd);
    hf__buf_done(&self->in);
}

/* Each has the same reply on both once it is parsed. */
TEST(scripts_mean_the_same_on_both_protocols)
{
    static const char *const scripts[] = {
        "return true",
        "return false",
        "return nil",
        "return 3.99",
        "return -7",
        "return 'text'",
        "return ''",
        "return {1, 'two', {3, false, true}}",
        "return {1, nil, 3}",
        "return {double = 3.25}",
        "return {double = 1e300 * 1e300}",
        "return {double = -1e300 * 1e300}",
        "return {double = 0/0}",
        "return {map = {a = 1}}",
        "return {set = {a = true}}",
        "return {big_number = '1234567890123456789012345678901234567890'}",
        "return {verbatim_string = {format = 'txt', string = 'words'}}",
        "return redis.status_reply('FINE')",
        "return redis.error_reply('MINE is this')",
        "redis.setresp(3); return true",
        "redis.setresp(3); return false",
        "redis.setresp(3); return redis.call('hgetall', 'h')",
        "redis.setresp(3); return redis.call('smembers', 's')",
        "redis.setresp(3); return redis.call('zscore', 'z', 'm')",
        "redis.setresp(3); return redis.call('get', 'none')",
        "return redis.call('hgetall', 'h')",
        "return redis.call('smembers', 's')",
        "return redis.call('zscore', 'z', 'm')",
        "return redis.call('zrange', 'z', 0, -1, 'withscores')",
        "return type(redis.call('zscore', 'z', 'm'))",
        "return redis.call('zpopmin', 'none')",
        "return redis.call('get', 'none')",
        "return redis.call('exists', 'h') == 1",
        "return redis.call('set', 'k', 'v', 'nx') and 1 or 0",
        "return redis.call('debug', 'protocol', 'true')",
        "return redis.call('debug', 'protocol', 'double')",
        "return redis.call('debug', 'protocol', 'verbatim')",
        "return redis.call('debug', 'protocol', 'null')",
        "return redis.pcall('debug', 'protocol', 'bignum')",
    };
    char two[TEXT_SIZE];
    char three[TEXT_SIZE];
    raw resp2;
    raw resp3;

    raw_open(&resp2, "2");
    raw_open(&resp3, "3");
    ASK(&resp2, two, "HSET", "h", "f", "v");
    ASK(&resp2, two, "SADD", "s", "m");
    ASK(&resp2, two, "ZADD", "z", "2.5", "m");
    for (size_t at = 0; at < sizeof(scripts) / sizeof(scripts[0]); at++) {
        ASK(&resp2, two, "DEL", "k");
        ASK(&resp2, two, "EVAL", scripts[at], "0");
        ASK(&resp3, three, "DEL", "k");
        ASK(&resp3, three, "EVAL", scripts[at], "0");
        if (strcmp(two, three) != 0)
            fail_msg("%s: %s in RESP2, %s in RESP3", scripts[at], two, three);
    }
    raw_close(&resp2);
    raw_close(&resp3);
}

/* Why requests use RESP2: the same command has another shape in RESP3. */
TEST(some_commands_have_another_shape_in_resp3)
{
    char two[TEXT_SIZE];
    char three[TEXT_SIZE];
    raw resp2;
    raw resp3;

    raw_open(&resp2, "2");
    raw_open(&resp3, "3");
    ASK(&resp2, two, "ZADD", "scores", "2.5", "m");
    ASK(&resp2, two, "ZRANGE", "scores", "0", "-1", "WITHSCORES");
    ASK(&resp3, three, "ZRANGE", "scores", "0", "-1", "WITHSCORES");
    assert_string_equal(two, "[ $'m' $'2.5' ] ");
    assert_string_equal(three, "[ [ $'m' $'2.5' ] ] ");
    /* The others are the same when parsed. */
    ASK(&resp2, two, "ZSCORE", "scores", "m");
    ASK(&resp3, three, "ZSCORE", "scores", "m");
    assert_string_equal(two, three);
    raw_close(&resp2);
    raw_close(&resp3);
}

/* Requests in RESP2, messages in RESP3, and the server gets our name. */
TEST(connections_say_what_they_are)
{
    char answer[TEXT_SIZE];
    test_driver driver;
    test_call call;
    const char *line;

    driver_open(&driver, redis_server_unix_url(the_server));
    driver.store->ops->event_seq(driver.store, hf_str("t"),
                                 hf__clock_boot_ms() + ENOUGH_MS);
    CALL(&call, ENOUGH_MS, "PING");
    call_submit(&driver, &call);
    call_wait(&call);
    call_end(&call);
    assert_true(redis_server_command(the_server, "CLIENT LIST", answer,
                                     sizeof(answer)));
    for (line = answer; line != NULL; line = strchr(line + 1, '\n')) {
        const char *end = line + 1 + strcspn(line + 1, "\n");
        const char *name = strstr(line, " name=holdfast ");
        const char *subscribed = strstr(line, " sub=1 ");
        const char *resp = strstr(line, " resp=");

        if (name == NULL || name > end)
            continue;
        assert_non_null(resp);
        assert_int_equal(resp[6],
                         subscribed != NULL && subscribed < end ? '3' : '2');
    }
    assert_non_null(strstr(answer, " sub=1 "));
    driver_close(&driver);
}

static void no_resp3_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)connection;
    (void)user;
    while (fake_server_read(fd, text, sizeof(text))) {
        const char *answer = "+OK\r\n";

        if (strcmp(text, "HELLO 3") == 0)
            answer = "-NOPROTO unsupported protocol version\r\n";
        if (strncmp(text, "SUBSCRIBE ", 10) == 0) {
            if (!fake_server_subscribe(fd, text, false, "topic"))
                return;
        } else if (!fake_server_say(fd, answer)) {
            return;
        }
    }
}

TEST(messages_come_in_resp2_where_there_is_no_resp3)
{
    fake_server *server = fake_server_start(no_resp3_session, NULL);
    test_driver driver;
    uint32_t seq;

    driver_open(&driver, fake_server_url(server));
    seq = driver.store->ops->event_seq(driver.store, hf_str("topic"), 0);
    assert_true(driver.store->ops->event_wait(
        driver.store, hf_str("topic"), seq, hf__clock_boot_ms() + ENOUGH_MS));
    assert_int_equal(fake_server_count(server), 2);
    driver_close(&driver);
    fake_server_stop(server);
}

static void no_subscribe_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)connection;
    (void)user;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        if (!fake_server_say(fd, "-NOPERM this user has no permissions\r\n"))
            return;
    }
}

/* Where wake-ups are impossible, waiters are made to poll, again and again. */
TEST(waiting_without_a_subscription_is_looking_now_and_then)
{
    fake_server *server = fake_server_start(no_subscribe_session, NULL);
    test_driver driver;
    int64_t began_ms;
    uint32_t seq;

    driver_open(&driver, fake_server_url(server));
    began_ms = hf__clock_boot_ms();
    for (int look = 0; look < 5; look++) {
        seq = driver.store->ops->event_seq(driver.store, hf_str("t"), 0);
        assert_true(driver.store->ops->event_wait(
            driver.store, hf_str("t"), seq, hf__clock_boot_ms() + ENOUGH_MS));
    }
    assert_took(hf__clock_boot_ms() - began_ms, 5 * 50, 5 * 500 + 2000);
    driver_close(&driver);
    fake_server_stop(server);
}

#define PUSHES 200
#define PUSH_SIZE 20000

/* Sends an unsolicited message before each reply. */
static void pushing_session(int fd, unsigned connection, void *user)
{
    static char push[PUSH_SIZE + 40];
    char text[200];

    (void)connection;
    (void)user;
    (void)snprintf(push, sizeof(push), ">2\r\n$1\r\nx\r\n$%d\r\n%0*d\r\n",
                   PUSH_SIZE, PUSH_SIZE, 0);
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        for (int i = 0; i < PUSHES; i++) {
            if (!fake_server_say(fd, push))
                return;
        }
        if (!fake_server_say(fd, "+OK\r\n"))
            return;
    }
}

TEST(pushes_are_not_kept_with_the_answer)
{
    fake_server *server = fake_server_start(pushing_session, NULL);
    test_driver driver;
    test_call call;

    driver_open(&driver, fake_server_url(server));
    for (int by_loop = 0; by_loop < 2; by_loop++) {
        CALL(&call, ENOUGH_MS, "GET", "k");
        if (by_loop) {
            call_submit(&driver, &call);
            (void)call_wait(&call);
        } else {
            (void)call_perform(&driver, &call);
        }
        assert_text(&call, "OK");
        assert_in_range(hf__arena_size(&call.request.arena), 0, PUSH_SIZE);
        call_end(&call);
    }
    driver_close(&driver);
    fake_server_stop(server);
}

static uint32_t probes;

/* Confirms the subscription, replies to the first PING, and then to no more. */
static void silent_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)connection;
    (void)user;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (fake_server_read(fd, text, sizeof(text))) {
        if (strncmp(text, "SUBSCRIBE ", 10) == 0)
            fake_server_subscribe(fd, text, true, NULL);
        else if (strcmp(text, "PING") == 0 &&
                 __atomic_fetch_add(&probes, 1, __ATOMIC_SEQ_CST) == 0)
            fake_server_say(fd, "+PONG\r\n");
    }
}

/* Silences of 100 ms and of up to 300 ms, and a missing reply. */
TEST(silent_subscription_is_made_again)
{
    fake_server *server = fake_server_start(silent_session, NULL);
    int64_t until_ms = hf__clock_boot_ms() + 40000;
    test_driver driver;
    uint32_t seq;

    probes = 0;
    hf__event_conn_set_silence(100, 2000);
    driver_open(&driver, fake_server_url(server));
    seq = driver.store->ops->event_seq(driver.store, hf_str("topic"),
                                       hf__clock_boot_ms() + ENOUGH_MS);
    assert_true(driver.store->ops->event_wait(driver.store, hf_str("topic"),
                                              seq, until_ms));
    assert_int_equal(__atomic_load_n(&probes, __ATOMIC_SEQ_CST), 2);
    assert_int_equal(fake_server_count(server), 3);
    driver_close(&driver);
    hf__event_conn_set_silence(5000, 5000);
    fake_server_stop(server);
}

static void sentinel_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)connection;
    while (fake_server_read(fd, text, sizeof(text))) {
        if (!fake_server_say(fd,
                             strncmp(text, "HELLO", 5) == 0 ? user : "+OK\r\n"))
            return;
    }
}

TEST(sentinel_is_no_server)
{
    static char hello[] = "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n"
                          "$7\r\nversion\r\n$5\r\n7.2.4\r\n"
                          "$4\r\nmode\r\n$8\r\nsentinel\r\n";
    fake_server *server = fake_server_start(sentinel_session, hello);
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    assert_int_equal(
        driver_try_open(&driver, fake_server_url(server), NULL, NULL, &err),
        HF_INVALID);
    assert_non_null(strstr(err.message, "is a sentinel"));
    fake_server_stop(server);
}

TEST(login_learns_what_the_server_is)
{
    static const struct {
        const char *hello;
        hf__redis_traits traits;
    } rows[] = {
        {"*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15"
         "\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:3\r\n$4\r\nmode\r\n$10\r\n"
         "standalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n",
         {7, 0, 15, HF__REDIS_STANDALONE, false, false, false, true}},
        {"%5\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$7\r\nversion\r\n$5\r\n9.0.1"
         "\r\n$5\r\nproto\r\n:3\r\n$4\r\nmode\r\n$7\r\ncluster\r\n"
         "$4\r\nrole\r\n$7\r\nreplica\r\n",
         {9, 0, 1, HF__REDIS_CLUSTER, true, true, true, true}},
        {"%1\r\n$7\r\nversion\r\n$15\r\n8.999.1.2-rc1.3\r\n",
         {8, 255, 1, HF__REDIS_UNKNOWN, false, false, false, false}},
        {"-NOPERM no\r\n", {0}},
        {"-NOPROTO no\r\n", {0}},
        {"*0\r\n", {0}},
    };

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        static const hf__redis_account account;
        hf__login login;
        hf__resp resp;
        hf__arena arena;
        hf_reply reply;
        hf__buf buf;
        hf_error err;

        hf__buf_init(&buf, 65536);
        hf__arena_init(&arena);
        assert_true(hf__login_begin(&login, &account, true, &buf));
        hf__buf_clear(&buf);
        hf__buf_append(&buf, rows[at].hello, strlen(rows[at].hello));
        hf__resp_begin(&resp, &arena, &reply);
        assert_int_equal(hf__resp_feed(&resp, &buf), HF__RESP_DONE);
        assert_int_equal(hf__login_answer(&login, &reply, &err), HF_OK);
        assert_memory_equal(&login.traits, &rows[at].traits,
                            sizeof(login.traits));
        hf__arena_free(&arena);
        hf__buf_done(&buf);
    }
}

TEST(lazy_store_opens_without_its_server)
{
    static const char *const urls[] = {"redis+unix:///nowhere/socket",
                                       "redis://a.name.invalid",
                                       "redis://127.0.0.1:1"};
    hf_error err = HF_ERROR_INIT;
    test_driver driver;
    test_call call;
    hf__url url;

    for (size_t at = 0; at < sizeof(urls) / sizeof(urls[0]); at++) {
        hf__store_config config = {
            .url = &url, .connect_ms = 1000, .lazy = true};

        assert_int_equal(hf__url_parse(urls[at], &url, &err), HF_OK);
        config.loop = driver.loop = hf__loop_new();
        assert_int_equal(hf__store_open(&config, &driver.store, &err), HF_OK);
        hf__url_done(&url);
        for (int shared = 0; shared < 2; shared++) {
            CALL(&call, 300, "PING");
            if (shared) {
                call_submit(&driver, &call);
                call_wait(&call);
            } else {
                call_perform(&driver, &call);
            }
            assert_status(&call, HF_UNAVAILABLE);
            assert_int_equal(call.request.sends, 0);
            call_end(&call);
        }
        driver_close(&driver);
    }
}

TEST(generation_counts_the_shared_connections)
{
    test_driver driver;
    test_call call;
    char answer[64];

    driver_open(&driver, redis_server_unix_url(the_server));
    for (unsigned made = 0; made < 3; made++) {
        assert_int_equal(driver.store->ops->generation(driver.store), made);
        CALL(&call, ENOUGH_MS, "PING");
        call_submit(&driver, &call);
        call_wait(&call);
        assert_text(&call, "PONG");
        call_end(&call);
        assert_true(redis_server_command(the_server,
                                         "CLIENT KILL TYPE normal SKIPME yes",
                                         answer, sizeof(answer)));
    }
    driver_close(&driver);
}
