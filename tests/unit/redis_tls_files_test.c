/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_tls_files_test.c - the files of TLS: keys with a password, options
 * and URLs, files that change while a client is open. And what the network sees
 * of a handshake: the name that is asked for, and that one that stops half way
 * blocks no caller.
 */
#include "redis_driver.h"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/tls/tls.h"
#include "support/certificates.h"
#include "support/slowness.h"

#define URL_SIZE 512
#define PASSWORD "the password of a key"

/* In a file of its own: our certificate as it is now. */
#define OURS "?tls_ca=@/ca.pem&tls_cert=@/now.pem&tls_key=@/now.key"

static certificates *issued;
static redis_server_tls shown;
static redis_server *server;
static char paths[3][CERTIFICATES_PATH_SIZE];

static const certificate_spec specs[] = {
    {"server", "a server", "DNS:localhost,IP:127.0.0.1", -1, 30, false},
    {"alone", "a server", "DNS:localhost,IP:127.0.0.1", -1, 30, true},
    {"client", "a client", NULL, -1, 30, false},
    {"second", "a client", NULL, -1, 30, false},
};

static void write_text(const char *name, const char *text)
{
    char path[CERTIFICATES_PATH_SIZE];
    FILE *file = fopen(certificates_path(issued, name, path), "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* As programs that renew certificates do: written next to the file, then
 * renamed. */
static void put(const char *from, const char *to)
{
    static char text[8192];
    char path[CERTIFICATES_PATH_SIZE];
    char target[CERTIFICATES_PATH_SIZE];
    FILE *file = fopen(certificates_path(issued, from, path), "r");
    size_t size;

    assert_non_null(file);
    size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    fclose(file);
    write_text("being-written", text);
    certificates_path(issued, "being-written", path);
    assert_int_equal(rename(path, certificates_path(issued, to, target)), 0);
}

static int start_server(void **state)
{
    (void)state;
    issued = certificates_new();
    if (issued == NULL)
        return -1;
    for (size_t at = 0; at < sizeof(specs) / sizeof(specs[0]); at++) {
        if (!certificates_issue(issued, &specs[at]))
            return -1;
    }
    if (!certificates_encrypt(issued, "client.key", "locked.key", PASSWORD))
        return -1;
    shown.ca = certificates_path(issued, "ca.pem", paths[0]);
    shown.certificate = certificates_path(issued, "server.pem", paths[1]);
    shown.key = certificates_path(issued, "server.key", paths[2]);
    shown.asks_clients = true;
    server = redis_server_start_tls(NULL, &shown);
    return server != NULL ? 0 : -1;
}

static int stop_server(void **state)
{
    (void)state;
    redis_server_stop(server);
    certificates_free(issued);
    return 0;
}

ALL_TESTS_WITH(start_server, stop_server);

/* "@" in `params` stands for the directory of the certificates. */
static const char *url_of(const char *host, int port, const char *params,
                          char url[URL_SIZE])
{
    size_t used = (size_t)snprintf(url, URL_SIZE, "rediss://%s:%d", host, port);
    char dir[CERTIFICATES_PATH_SIZE];
    size_t size = strlen(certificates_path(issued, "", dir)) - 1;

    for (; *params != '\0'; params++) {
        assert_true(used + size + 2 < URL_SIZE);
        if (*params != '@') {
            url[used++] = *params;
            continue;
        }
        memcpy(url + used, dir, size);
        used += size;
    }
    url[used] = '\0';
    return url;
}

static const char *our_url(const char *params, char url[URL_SIZE])
{
    return url_of("localhost", redis_server_tls_port(server), params, url);
}

/* Open with options; HF_OK: it was closed again. */
static hf_status try_open(const char *url, const hf_tls_options *options,
                          hf_error *err)
{
    hf__url parsed;
    hf__store_config config = {
        .url = &parsed, .connect_ms = 1000, .tls = options};
    hf__store *store;
    hf_status status;

    assert_int_equal(hf__url_parse(url, &parsed, err), HF_OK);
    config.loop = hf__loop_new();
    status = hf__store_open(&config, &store, err);
    hf__url_done(&parsed);
    if (status == HF_OK)
        store->ops->close(store);
    hf__loop_free(config.loop);
    return status;
}

static void expect_open(const char *url, const hf_tls_options *options,
                        hf_status status, const char *why)
{
    hf_error err = HF_ERROR_INIT;
    hf_status got = try_open(url, options, &err);

    if (got != status || (why != NULL && strstr(err.message, why) == NULL))
        fail_msg("%s: %s, \"%s\"; expected %s, \"%s\"", url,
                 hf_status_name(got), err.message, hf_status_name(status),
                 why != NULL ? why : "");
    assert_null(strstr(err.message, PASSWORD));
}

/* -------------------------------------------------------- key with password */

#define LOCKED "?tls_ca=@/ca.pem&tls_cert=@/client.pem&tls_key=@/locked.key"

TEST(key_may_have_a_password)
{
    static const struct {
        const char *text; /* of the file; NULL: there is none */
        hf_status status;
        const char *why;
    } rows[] = {
        {PASSWORD, HF_OK, NULL},
        {PASSWORD "\n", HF_OK, NULL},
        {PASSWORD "\r\nand more", HF_OK, NULL},
        {"wrong", HF_INVALID, "is the password wrong?"},
        {"", HF_INVALID, "is empty"},
        {"\n" PASSWORD, HF_INVALID, "is empty"},
        {NULL, HF_INVALID, "tls_key_password_file: cannot open"},
    };
    char url[URL_SIZE], path[CERTIFICATES_PATH_SIZE];

    our_url(LOCKED "&tls_key_password_file=@/password", url);
    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        if (rows[at].text != NULL)
            write_text("password", rows[at].text);
        else
            (void)unlink(certificates_path(issued, "password", path));
        expect_open(url, NULL, rows[at].status, rows[at].why);
    }
    expect_open(our_url(LOCKED, url), NULL, HF_INVALID, "is encrypted");
    our_url("?tls_ca=@/ca.pem&tls_key_password_file=@/password", url);
    expect_open(url, NULL, HF_INVALID, "tls_key_password_file without tls_key");
}

TEST(options_go_before_the_url)
{
    hf_tls_options options = HF_TLS_OPTIONS_INIT;
    char own[5][CERTIFICATES_PATH_SIZE];
    char url[URL_SIZE];

    options.ca = certificates_path(issued, "ca.pem", own[0]);
    options.cert = certificates_path(issued, "client.pem", own[1]);
    options.key = certificates_path(issued, "locked.key", own[2]);
    options.key_password = PASSWORD;
    expect_open(our_url("", url), &options, HF_OK, NULL);
    expect_open(our_url("?tls_ca=/nowhere&tls_cert=/nowhere", url), &options,
                HF_OK, NULL);
    expect_open(our_url("?tls_key_password_file=/nowhere", url), &options,
                HF_OK, NULL);
    options.key_password = "wrong";
    expect_open(our_url("", url), &options, HF_INVALID, "password wrong?");
    options.key_password = NULL;
    write_text("password", PASSWORD);
    options.key_password_file = certificates_path(issued, "password", own[3]);
    expect_open(our_url("", url), &options, HF_OK, NULL);
    options.name = "elsewhere.example";
    expect_open(our_url("", url), &options, HF_DENIED, "hostname mismatch");
    options.name = "localhost";
    expect_open(our_url("?tls_name=elsewhere.example", url), &options, HF_OK,
                NULL);
    options.name = NULL;
    options.ca = certificates_path(issued, "alone.pem", own[4]);
    expect_open(our_url("", url), &options, HF_DENIED, "not trusted");
    options.ca = NULL;
    options.verify = "none";
    expect_open(our_url("", url), &options, HF_OK, NULL);
    options.verify = "perhaps";
    expect_open(our_url("", url), &options, HF_INVALID, "tls_verify");
    options.verify = "";
    expect_open(our_url("", url), &options, HF_INVALID, "tls_verify is empty");
    options = (hf_tls_options)HF_TLS_OPTIONS_INIT;
    options.ca_dir = "/nowhere";
    expect_open(our_url("", url), &options, HF_INVALID, "is not a directory");
    options.ca_dir = NULL;
    options.key_password = PASSWORD;
    expect_open(our_url("", url), &options, HF_INVALID,
                "key_password without tls_key");
}

/* Encryption that is asked for is used, or the call fails. */
TEST(options_want_a_url_with_tls)
{
    hf_tls_options options = HF_TLS_OPTIONS_INIT;

    expect_open(redis_server_tcp_url(server), &options, HF_INVALID,
                "a redis: URL is plain");
    expect_open(redis_server_unix_url(server), &options, HF_OK, NULL);
    expect_open("redis+sentinel://127.0.0.1:1/name", &options, HF_INVALID,
                "a redis+sentinel: URL is plain");
    expect_open("valkey+cluster://127.0.0.1:1", &options, HF_INVALID,
                "a valkey+cluster: URL is plain");
    expect_open("redlock:redis://127.0.0.1:1,rediss://127.0.0.1:2,"
                "rediss://127.0.0.1:3",
                &options, HF_INVALID, "a redis: URL is plain");
}

/* ----------------------------------------------------- files that change */

/* Use new connections of both kinds. */
static void expect_calls(test_driver *driver, hf_status status, const char *why)
{
    test_call call;

    assert_true(redis_server_restart(server));
    for (int shared = 0; shared < 2; shared++) {
        CALL(&call, ENOUGH_MS, "PING");
        if (shared) {
            call_submit(driver, &call);
            call_wait(&call);
        } else {
            call_perform(driver, &call);
        }
        assert_status(&call, status);
        if (why != NULL)
            assert_non_null(strstr(call.request.error.message, why));
        call_end(&call);
    }
}

TEST(renewed_certificate_is_used)
{
    char url[URL_SIZE];
    test_driver driver;

    put("client.pem", "now.pem");
    put("client.key", "now.key");
    driver_open(&driver, our_url(OURS, url));
    expect_calls(&driver, HF_OK, NULL);
    put("alone.pem", "now.pem"); /* which the server does not trust */
    put("alone.key", "now.key");
    expect_calls(&driver, HF_DENIED, "TLS: ");
    put("second.pem", "now.pem");
    put("second.key", "now.key");
    expect_calls(&driver, HF_OK, NULL);
    driver_close(&driver);
}

TEST(renewed_authority_is_trusted)
{
    char url[URL_SIZE];
    test_driver driver;

    put("ca.pem", "trusted.pem");
    driver_open(&driver, our_url("?tls_ca=@/trusted.pem&tls_cert=@/client.pem"
                                 "&tls_key=@/client.key",
                                 url));
    put("alone.pem", "trusted.pem");
    expect_calls(&driver, HF_DENIED, "not trusted");
    put("ca.pem", "trusted.pem");
    expect_calls(&driver, HF_OK, NULL);
    driver_close(&driver);
}

/* Between two renames, or while a file is being written, the previous files
 * are used. */
TEST(files_that_do_not_fit_are_not_used)
{
    char path[CERTIFICATES_PATH_SIZE], url[URL_SIZE];
    test_driver driver;

    put("client.pem", "now.pem");
    put("client.key", "now.key");
    driver_open(&driver, our_url(OURS, url));
    put("alone.pem", "now.pem"); /* without its key */
    expect_calls(&driver, HF_OK, NULL);
    write_text("now.key", "-----BEGIN PRIVATE KEY-----\nMIG");
    expect_calls(&driver, HF_OK, NULL);
    (void)unlink(certificates_path(issued, "now.key", path));
    expect_calls(&driver, HF_OK, NULL);
    put("alone.key", "now.key"); /* now it fits */
    expect_calls(&driver, HF_DENIED, "TLS: ");
    driver_close(&driver);
}

TEST(state_tells_why_files_are_not_used)
{
    hf_error err = HF_ERROR_INIT;
    char url[URL_SIZE];
    hf__url parsed;
    hf__tls *tls;

    put("client.pem", "now.pem");
    put("client.key", "now.key");
    assert_int_equal(hf__url_parse(our_url(OURS, url), &parsed, &err), HF_OK);
    assert_int_equal(hf__tls_new(&parsed, NULL, &tls, &err), HF_OK);
    hf__url_done(&parsed);
    assert_int_equal(hf__tls_state(tls, &err), HF_OK);
    put("second.pem", "now.pem");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hf__tls_state(tls, &err), HF_INVALID);
        assert_non_null(strstr(err.message, "key values mismatch"));
    }
    put("second.key", "now.key");
    assert_int_equal(hf__tls_state(tls, &err), HF_OK);
    hf__tls_free(tls);
}

/* --------------------------------------------------------- seen on the way */

typedef struct first_bytes {
    char data[2048];
    size_t size; /* atomic */
} first_bytes;

/* Keep what comes first, and close. */
static void keep_first(int fd, unsigned number, void *user)
{
    first_bytes *self = user;
    ssize_t got = recv(fd, self->data, sizeof(self->data), 0);

    (void)number;
    __atomic_store_n(&self->size, got > 0 ? (size_t)got : 0, __ATOMIC_SEQ_CST);
}

TEST(name_is_asked_for_unless_it_is_an_address)
{
    static const struct {
        const char *host;
        const char *params;
        const char *name;
        bool told;
    } rows[] = {
        {"localhost", "", "localhost", true},
        {"127.0.0.1", "", "127.0.0.1", false},
        {"127.0.0.1", "?tls_name=a.example", "a.example", true},
        {"localhost", "?tls_name=10.1.2.3", "10.1.2.3", false},
        {"localhost", "?tls_name=10.1.2.3", "localhost", false},
        {"localhost", "?tls_verify=none", "localhost", true},
    };

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        first_bytes seen = {.size = 0};
        fake_server *fake = fake_server_start_tcp(keep_first, &seen);
        char url[URL_SIZE];
        size_t size;

        assert_non_null(fake);
        url_of(rows[at].host, fake_server_port(fake), rows[at].params, url);
        expect_open(url, NULL, HF_UNAVAILABLE, "no TLS handshake with");
        fake_server_stop(fake);
        size = __atomic_load_n(&seen.size, __ATOMIC_SEQ_CST);
        assert_true(size > 0);
        if ((memmem(seen.data, size, rows[at].name, strlen(rows[at].name)) !=
             NULL) != rows[at].told)
            fail_msg("%s: %s", url, rows[at].name);
    }
}

/* A relay to the server that hands over so many of its bytes. */
typedef struct relay {
    size_t limit;
    bool closes; /* then; else it is silent */
} relay;

static int connect_server(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)redis_server_tls_port(server));
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    return -1;
}

/* What is there, from one to the other, `limit` bytes at most; false: over. */
static bool hand_over(int from, int to, size_t *limit)
{
    char data[4096];
    size_t most = *limit < sizeof(data) ? *limit : sizeof(data);
    ssize_t got = recv(from, data, most, 0);

    if (got <= 0 || send(to, data, (size_t)got, MSG_NOSIGNAL) != got)
        return false;
    *limit -= (size_t)got;
    return true;
}

static void relay_some(int fd, unsigned number, void *user)
{
    const relay *self = user;
    size_t left = self->limit;
    size_t any = SIZE_MAX;
    struct pollfd ends[2] = {{.fd = fd, .events = POLLIN},
                             {.fd = connect_server(), .events = POLLIN}};
    bool open = ends[1].fd >= 0;

    (void)number;
    while (open && left > 0 && poll(ends, 2, ENOUGH_MS) > 0) {
        if (ends[0].revents != 0)
            open = hand_over(fd, ends[1].fd, &any);
        if (open && ends[1].revents != 0)
            open = hand_over(ends[1].fd, fd, &left);
    }
    if (open && !self->closes)
        fake_server_drain(fd);
    close(ends[1].fd);
}

/* The server's side of the handshake is some 1000 to 2000 bytes long. One that
 * is not closed takes a second, so that not each limit is tried with it. */
TEST(handshake_that_stops_half_way_ends_in_time)
{
    static const size_t limits[] = {1, 4, 5, 6, 80, 127, 128, 200, 500, 900};

    for (size_t at = 0; at < sizeof(limits) / sizeof(limits[0]); at++) {
        for (int closes = at % 3 != 0; closes < 2; closes++) {
            relay way = {limits[at], closes};
            fake_server *fake = fake_server_start_tcp(relay_some, &way);
            hf_tls_options options = HF_TLS_OPTIONS_INIT;
            int64_t begin_ms;
            char url[URL_SIZE];

            assert_non_null(fake);
            url_of(
                "127.0.0.1", fake_server_port(fake),
                "?tls_ca=@/ca.pem&tls_cert=@/client.pem&tls_key=@/client.key",
                url);
            begin_ms = hf__clock_boot_ms();
            expect_open(url, &options, HF_UNAVAILABLE,
                        closes ? "no TLS handshake with"
                               : "timed out in the TLS handshake");
            assert_in_time(hf__clock_boot_ms() - begin_ms, 2500);
            fake_server_stop(fake);
        }
    }
}

/* On the loop thread: a connection that works, then its way is cut. */
TEST(shared_connection_outlives_half_handshakes)
{
    relay way = {.limit = SIZE_MAX};
    fake_server *fake = fake_server_start_tcp(relay_some, &way);
    char url[URL_SIZE];
    test_driver driver;
    test_call call;

    assert_non_null(fake);
    driver_open(&driver, url_of("127.0.0.1", fake_server_port(fake),
                                "?tls_ca=@/ca.pem&tls_cert=@/client.pem"
                                "&tls_key=@/client.key",
                                url));
    __atomic_store_n(&way.limit, 300, __ATOMIC_SEQ_CST);
    CALL(&call, 1500, "PING");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_status(&call, HF_UNAVAILABLE);
    call_end(&call);
    __atomic_store_n(&way.limit, SIZE_MAX, __ATOMIC_SEQ_CST);
    CALL(&call, ENOUGH_MS, "PING");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_text(&call, "PONG");
    call_end(&call);
    driver_close(&driver);
    fake_server_stop(fake);
}
