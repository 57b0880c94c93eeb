/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_tls_test.c - TLS against a real server: who is trusted and who is not,
 * and that nothing else differs from a plain connection. Every case is tried
 * where the calling thread connects (open) and where the loop thread does.
 */
#include "redis_driver.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "support/certificates.h"
#include "support/slowness.h"

#define URL_SIZE 512

/* One authority and one server for all tests; each test sets what the server
 * shows and restarts it. */
typedef struct secure_server {
    certificates *issued;
    redis_server_tls shows;
    redis_server *server;
    char ca[CERTIFICATES_PATH_SIZE];
    char certificate[CERTIFICATES_PATH_SIZE];
    char key[CERTIFICATES_PATH_SIZE];
} secure_server;

static secure_server the_server;

static const certificate_spec specs[] = {
    {"server", "a server", "DNS:localhost,IP:127.0.0.1", -1, 30, false},
    {"expired", "a server", "DNS:localhost,IP:127.0.0.1", -9, -1, false},
    {"early", "a server", "DNS:localhost,IP:127.0.0.1", 1, 30, false},
    {"other", "a server", "DNS:elsewhere.example,IP:10.0.0.1", -1, 30, false},
    {"alone", "a server", "DNS:localhost,IP:127.0.0.1", -1, 30, true},
    {"common", "localhost", NULL, -1, 30, false},
    {"wild", "a server", "DNS:*.example.com", -1, 30, false},
    {"client", "a client", NULL, -1, 30, false},
};

static int start_server(void **state)
{
    secure_server *self = &the_server;

    *state = self;
    /* What would be SIGPIPE must never reach a program. */
    signal(SIGPIPE, SIG_DFL);
    self->issued = certificates_new();
    if (self->issued == NULL)
        return -1;
    for (size_t at = 0; at < sizeof(specs) / sizeof(specs[0]); at++) {
        if (!certificates_issue(self->issued, &specs[at]))
            return -1;
    }
    self->shows.ca = certificates_path(self->issued, "ca.pem", self->ca);
    self->shows.certificate =
        certificates_path(self->issued, "server.pem", self->certificate);
    self->shows.key = certificates_path(self->issued, "server.key", self->key);
    self->server = redis_server_start_tls(NULL, &self->shows);
    return self->server != NULL ? 0 : -1;
}

static int stop_server(void **state)
{
    secure_server *self = *state;

    redis_server_stop(self->server);
    certificates_free(self->issued);
    return 0;
}

ALL_TESTS_WITH(start_server, stop_server);

/* Restart with another certificate. */
static void show(secure_server *self, const char *name, bool asks_clients)
{
    char file[64];

    snprintf(file, sizeof(file), "%s.pem", name);
    certificates_path(self->issued, file, self->certificate);
    snprintf(file, sizeof(file), "%s.key", name);
    certificates_path(self->issued, file, self->key);
    self->shows.asks_clients = asks_clients;
    assert_true(redis_server_restart(self->server));
}

/* "@" in `params` stands for the directory of the certificates. */
static const char *url_of(const secure_server *self, const char *host,
                          const char *params, char url[URL_SIZE])
{
    size_t used = (size_t)snprintf(url, URL_SIZE, "rediss://%s:%d", host,
                                   redis_server_tls_port(self->server));
    char dir[CERTIFICATES_PATH_SIZE];
    size_t size;

    certificates_path(self->issued, "", dir);
    size = strlen(dir) - 1;
    for (; *params != '\0'; params++) {
        assert_true(used + size + 2 < URL_SIZE);
        if (*params == '@') {
            memcpy(url + used, dir, size);
            used += size;
        } else {
            url[used++] = *params;
        }
    }
    url[used] = '\0';
    return url;
}

static hf_status try_url(const char *url, hf_error *err)
{
    test_driver driver;
    hf_status status = driver_try_open(&driver, url, NULL, NULL, err);

    if (status == HF_OK)
        driver_close(&driver);
    return status;
}

static void assert_refused(const char *url, hf_status status, const char *why)
{
    hf_error err = HF_ERROR_INIT;
    int64_t begin_ms = hf__clock_boot_ms();
    hf_status got = try_url(url, &err);

    if (got != status || strstr(err.message, why) == NULL)
        fail_msg("%s: %s, \"%s\"; expected %s, \"%s\"", url,
                 hf_status_name(got), err.message, hf_status_name(status), why);
    assert_in_time(hf__clock_boot_ms() - begin_ms, 2500); /* connect_ms: 1000 */
}

TEST(calls_and_events_go_over_tls)
{
    secure_server *self = *state;
    char url[URL_SIZE];
    test_driver driver;
    test_call call;
    char channel[80];
    uint32_t seq;

    show(self, "server", false);
    driver_open(&driver, url_of(self, "127.0.0.1", "/3?tls_ca=@/ca.pem", url));
    RUN(&driver, &call, "SET", "k", "v");
    assert_text(&call, "OK");
    call_end(&call);
    CALL(&call, ENOUGH_MS, "GET", "k");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_text(&call, "v");
    call_end(&call);
    seq = driver.store->ops->event_seq(driver.store, hf_str("topic"),
                                       hf__clock_boot_ms() + ENOUGH_MS);
    snprintf(channel, sizeof(channel), "%s",
             driver.store->ops->inbox(driver.store));
    RUN(&driver, &call, "PUBLISH", channel, "topic");
    assert_integer(&call, 1);
    call_end(&call);
    assert_true(driver.store->ops->event_wait(
        driver.store, hf_str("topic"), seq, hf__clock_boot_ms() + ENOUGH_MS));
    driver_close(&driver);
    command(self->server, "GET k", "$-1\r\n"); /* it went to database 3 */
}

TEST(certificate_must_be_trusted)
{
    static const struct {
        const char *shown;
        const char *host;
        const char *params;
        const char *why; /* NULL: it is */
    } rows[] = {
        {"server", "localhost", "?tls_ca=@/ca.pem", NULL},
        {"server", "127.0.0.1", "?tls_ca_dir=@&tls_ca=@/ca.pem", NULL},
        {"server", "127.0.0.1", "", "certificate in certificate chain"},
        {"server", "127.0.0.1", "?tls_ca=@/alone.pem", "chain"},
        {"server", "127.0.0.1", "?tls_verify=none", NULL},
        {"expired", "127.0.0.1", "?tls_ca=@/ca.pem", "expired"},
        {"expired", "127.0.0.1", "?tls_ca=@/ca.pem&tls_verify=ca", "expired"},
        {"early", "127.0.0.1", "?tls_ca=@/ca.pem", "not yet valid"},
        {"other", "localhost", "?tls_ca=@/ca.pem", "hostname mismatch"},
        {"other", "127.0.0.1", "?tls_ca=@/ca.pem", "IP address mismatch"},
        {"other", "localhost", "?tls_ca=@/ca.pem&tls_verify=ca", NULL},
        {"other", "localhost", "?tls_ca=@/ca.pem&tls_name=elsewhere.example",
         NULL},
        {"other", "localhost", "?tls_ca=@/ca.pem&tls_name=10.0.0.1", NULL},
        {"other", "localhost", "?tls_ca=@/ca.pem&tls_name=10.0.0.2",
         "IP address mismatch"},
        {"alone", "localhost", "?tls_ca=@/ca.pem", "self-signed"},
        {"alone", "localhost", "?tls_ca=@/alone.pem", NULL},
        {"alone", "localhost", "?tls_verify=none", NULL},
        /* A common name is no name. */
        {"common", "localhost", "?tls_ca=@/ca.pem", "hostname mismatch"},
        {"wild", "localhost", "?tls_ca=@/ca.pem&tls_name=a.example.com", NULL},
        {"wild", "localhost", "?tls_ca=@/ca.pem&tls_name=a.b.example.com",
         "hostname mismatch"},
    };
    secure_server *self = *state;
    const char *shown = "";
    char url[URL_SIZE];
    hf_error err;

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        if (strcmp(rows[at].shown, shown) != 0)
            show(self, rows[at].shown, false);
        shown = rows[at].shown;
        url_of(self, rows[at].host, rows[at].params, url);
        if (rows[at].why != NULL)
            assert_refused(url, HF_DENIED, rows[at].why);
        else if (try_url(url, &err) != HF_OK)
            fail_msg("%s: %s", url, err.message);
    }
}

/* The server comes back with a certificate that is not good enough. */
TEST(loop_thread_checks_the_certificate_too)
{
    secure_server *self = *state;
    char url[URL_SIZE];
    test_driver driver;
    test_call call;

    show(self, "server", false);
    driver_open(&driver, url_of(self, "localhost", "?tls_ca=@/ca.pem", url));
    show(self, "expired", false);
    CALL(&call, ENOUGH_MS, "GET", "k");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_status(&call, HF_DENIED);
    assert_non_null(strstr(call.request.error.message, "expired"));
    call_end(&call);
    show(self, "server", false);
    CALL(&call, ENOUGH_MS, "GET", "k");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_status(&call, HF_OK);
    call_end(&call);
    driver_close(&driver);
}

TEST(server_may_ask_for_our_certificate)
{
    secure_server *self = *state;
    char url[URL_SIZE];
    test_driver driver;
    test_call call;

    show(self, "server", true);
    assert_refused(url_of(self, "localhost", "?tls_ca=@/ca.pem", url),
                   HF_DENIED, "certificate required");
    assert_refused(url_of(self, "localhost",
                          "?tls_ca=@/ca.pem&tls_cert=@/alone.pem"
                          "&tls_key=@/alone.key",
                          url),
                   HF_DENIED, "TLS: ");
    driver_open(&driver, url_of(self, "localhost",
                                "?tls_ca=@/ca.pem&tls_cert=@/client.pem"
                                "&tls_key=@/client.key",
                                url));
    CALL(&call, ENOUGH_MS, "PING");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_text(&call, "PONG");
    call_end(&call);
    driver_close(&driver);
}

TEST(wrong_kind_of_port_is_reported)
{
    secure_server *self = *state;
    char url[URL_SIZE];

    show(self, "server", false);
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d",
             redis_server_port(self->server));
    assert_refused(url, HF_UNAVAILABLE, "is it a plain port?");
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_tls_port(self->server));
    assert_refused(url, HF_UNAVAILABLE, "is it a port for TLS?");
}

TEST(parameters_are_checked_before_anything_is_connected)
{
    static const struct {
        const char *params;
        const char *why;
    } rows[] = {
        {"?tls_cax=1", "\"tls_cax\""},
        {"?db=1", "\"db\""},
        {"?tls_verify=yes", "tls_verify: \"yes\""},
        {"?tls_verify=none&tls_ca=@/ca.pem", "tls_ca has no effect"},
        {"?tls_verify=none&tls_ca_dir=@", "tls_ca_dir has no effect"},
        {"?tls_verify=none&tls_name=a", "tls_name has no effect"},
        {"?tls_verify=ca&tls_name=a", "tls_name has no effect"},
        {"?tls_name=", "tls_name is empty"},
        {"?tls_cert=@/client.pem", "tls_cert without tls_key"},
        {"?tls_key=@/client.key", "tls_key without tls_cert"},
        {"?tls_ca=@/none.pem", "tls_ca: cannot open"},
        {"?tls_ca=@/client.key", "tls_ca: cannot use"},
        {"?tls_ca_dir=@/ca.pem", "is not a directory"},
        {"?tls_cert=@/client.key&tls_key=@/client.key", "tls_cert: cannot use"},
        {"?tls_cert=@/client.pem&tls_key=@/client.pem", "tls_key: cannot use"},
        {"?tls_cert=@/client.pem&tls_key=@/server.key", "tls_key: cannot use"},
        {"?tls_cert=@/client.pem&tls_key=@/none", "tls_key: cannot open"},
    };
    secure_server *self = *state;
    char url[URL_SIZE];

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++)
        assert_refused(url_of(self, "localhost", rows[at].params, url),
                       HF_INVALID, rows[at].why);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d?tls_verify=none",
             redis_server_port(self->server));
    assert_refused(url, HF_INVALID, "\"tls_verify\"");
}

/* Many records each way, by both kinds of connection. */
TEST(large_values_arrive_whole)
{
    enum { SIZE = 9 * 1000 * 1000 + 7 };
    secure_server *self = *state;
    char *text = malloc(SIZE + 1);
    char url[URL_SIZE];
    test_driver driver;
    test_call call;

    assert_non_null(text);
    for (size_t at = 0; at < SIZE; at++)
        text[at] = (char)('a' + at % 23);
    text[SIZE] = '\0';
    show(self, "server", false);
    driver_open(&driver, url_of(self, "localhost", "?tls_ca=@/ca.pem", url));
    for (int shared = 0; shared < 2; shared++) {
        for (int reads = 0; reads < 2; reads++) {
            if (reads)
                CALL(&call, ENOUGH_MS, "GET", "k");
            else
                CALL(&call, ENOUGH_MS, "SET", "k", text);
            if (shared) {
                call_submit(&driver, &call);
                call_wait(&call);
            } else {
                call_perform(&driver, &call);
            }
            assert_status(&call, HF_OK);
            if (reads) {
                assert_int_equal(call.request.reply.bytes.size, SIZE);
                assert_memory_equal(call.request.reply.bytes.data, text, SIZE);
            }
            call_end(&call);
        }
    }
    driver_close(&driver);
    free(text);
}

/* The client must read while it writes: neither side's buffers hold it all. */
TEST(many_large_replies_do_not_block_writing)
{
    enum { COUNT = 200, SIZE = 100 * 1000 };
    secure_server *self = *state;
    test_call *calls = calloc(COUNT, sizeof(*calls));
    hf__request *requests[COUNT];
    char *text = malloc(SIZE + 1);
    char url[URL_SIZE];
    test_driver driver;

    assert_non_null(calls);
    assert_non_null(text);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    show(self, "server", false);
    driver_open(&driver, url_of(self, "localhost", "?tls_ca=@/ca.pem", url));
    for (size_t at = 0; at < COUNT; at++) {
        CALL(&calls[at], ENOUGH_MS, "ECHO", text);
        requests[at] = &calls[at].request;
    }
    driver.store->ops->submit(driver.store, requests, COUNT);
    for (size_t at = 0; at < COUNT; at++) {
        call_wait(&calls[at]);
        assert_status(&calls[at], HF_OK);
        assert_int_equal(calls[at].request.reply.bytes.size, SIZE);
        call_end(&calls[at]);
    }
    driver_close(&driver);
    free(text);
    free(calls);
}

TEST(deadline_holds_when_the_server_hangs)
{
    secure_server *self = *state;
    char url[URL_SIZE];
    test_driver driver;
    test_call call;

    show(self, "server", false);
    driver_open(&driver, url_of(self, "localhost", "?tls_ca=@/ca.pem", url));
    for (int shared = 0; shared < 2; shared++) {
        int64_t begin_ms;

        redis_server_pause(self->server);
        begin_ms = hf__clock_boot_ms();
        CALL(&call, 400, "SET", "k", "v");
        if (shared) {
            call_submit(&driver, &call);
            call_wait(&call);
        } else {
            call_perform(&driver, &call);
        }
        assert_true(hf__clock_boot_ms() - begin_ms >= 400);
        assert_in_time(hf__clock_boot_ms() - begin_ms, 600);
        /* The shared connection is a new one: its handshake never ended. */
        assert_status(&call, shared ? HF_UNAVAILABLE : HF_INDETERMINATE);
        call_end(&call);
        redis_server_resume(self->server);
    }
    RUN(&driver, &call, "PING");
    assert_text(&call, "PONG");
    call_end(&call);
    driver_close(&driver);
}

TEST(dead_server_is_met_again)
{
    secure_server *self = *state;
    char url[URL_SIZE];
    test_driver driver;
    test_call call;

    show(self, "server", false);
    driver_open(&driver, url_of(self, "localhost", "?tls_ca=@/ca.pem", url));
    for (int shared = 0; shared < 2; shared++) {
        redis_server_kill(self->server);
        /* A connection that was just used is not looked at before a request
         * (ADR 0104), which may then have been sent. */
        (void)poll(NULL, 0, 10);
        CALL(&call, 300, "PING");
        if (shared) {
            call_submit(&driver, &call);
            call_wait(&call);
        } else {
            call_perform(&driver, &call);
        }
        assert_status(&call, HF_UNAVAILABLE);
        call_end(&call);
        assert_true(redis_server_restart(self->server));
        CALL(&call, ENOUGH_MS, "PING");
        if (shared) {
            call_submit(&driver, &call);
            call_wait(&call);
        } else {
            call_perform(&driver, &call);
        }
        assert_text(&call, "PONG");
        call_end(&call);
    }
    driver_close(&driver);
}
