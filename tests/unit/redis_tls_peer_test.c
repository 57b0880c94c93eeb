/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_tls_peer_test.c - TLS with a scripted peer: bytes that arrive one at a
 * time, key updates, tickets at any time, and every way to end a connection
 * half-way.
 */
#include "redis_driver.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/certificates.h"
#include "support/slowness.h"

#define SESSIONS_MAX 32

struct peer;

/* One connection as the peer sees it. */
typedef struct session {
    struct peer *peer;
    int fd;
    SSL *ssl;
    unsigned number; /* of requests after the login */
    char gathered[16384];
    size_t gathered_size;
    bool gathers; /* collects its output, to send it in one piece */
} session;

typedef struct peer {
    SSL_CTX *context;
    int fd;
    int port;
    bool dribbles;                  /* a byte at a time */
    bool (*accepts)(session *self); /* NULL: a handshake */
    bool (*act)(session *self);     /* reply to a request; false: close */
    pthread_t listener;
    pthread_t threads[SESSIONS_MAX];
    bool joined[SESSIONS_MAX];
    int fds[SESSIONS_MAX];
    unsigned count;
    uint32_t taken;    /* replies that the client has */
    uint32_t answered; /* requests, in all sessions */
} peer;

static certificates *issued;

/* ------------------------------------------------------------------- peer */

static int bio_write(BIO *bio, const char *data, int size)
{
    session *self = BIO_get_data(bio);
    int step = self->peer->dribbles ? 1 : size;

    if (self->gathers) {
        assert_true(self->gathered_size + (size_t)size <=
                    sizeof(self->gathered));
        memcpy(self->gathered + self->gathered_size, data, (size_t)size);
        self->gathered_size += (size_t)size;
        return size;
    }
    for (int at = 0; at < size; at += step) {
        if (send(self->fd, data + at, (size_t)step, MSG_NOSIGNAL) != step)
            return -1;
    }
    return size;
}

static int bio_read(BIO *bio, char *data, int size)
{
    const session *self = BIO_get_data(bio);

    return (int)recv(self->fd, data, (size_t)size, 0);
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method;

static bool read_byte(session *self, char *byte)
{
    return SSL_read(self->ssl, byte, 1) == 1;
}

/* The number of "*2" or "$14". */
static bool read_number(session *self, int *number)
{
    char byte;

    *number = 0;
    if (!read_byte(self, &byte))
        return false;
    while (read_byte(self, &byte) && byte != '\r')
        *number = *number * 10 + (byte - '0');
    return read_byte(self, &byte);
}

/* Read one request and keep its first word. */
static bool read_request(session *self, char *word, size_t word_size)
{
    int count;
    int size;
    char byte;

    if (!read_number(self, &count))
        return false;
    for (int at = 0; at < count; at++) {
        if (!read_number(self, &size))
            return false;
        for (int i = 0; i < size + 2; i++) {
            if (!read_byte(self, &byte))
                return false;
            if (at == 0 && (size_t)i + 1 < word_size && i < size) {
                word[i] = byte;
                word[i + 1] = '\0';
            }
        }
    }
    return true;
}

static bool say(session *self, const char *text)
{
    return SSL_write(self->ssl, text, (int)strlen(text)) > 0;
}

static void converse(session *self)
{
    char word[16];

    while (read_request(self, word, sizeof(word))) {
        if (strcmp(word, "HELLO") == 0 || strcmp(word, "CLIENT") == 0) {
            if (!say(self, "+OK\r\n"))
                return;
        } else {
            if (!self->peer->act(self))
                return;
            self->number++;
            __atomic_add_fetch(&self->peer->answered, 1, __ATOMIC_SEQ_CST);
        }
    }
}

static void *serve(void *user)
{
    session *self = user;
    BIO *bio = BIO_new(method);

    BIO_set_data(bio, self);
    BIO_set_init(bio, 1);
    self->ssl = SSL_new(self->peer->context);
    SSL_set_bio(self->ssl, bio, bio);
    if (self->peer->accepts != NULL ? self->peer->accepts(self)
                                    : SSL_accept(self->ssl) == 1)
        converse(self);
    SSL_free(self->ssl);
    ERR_clear_error();
    shutdown(self->fd, SHUT_RDWR);
    free(self);
    return NULL;
}

static void *listen_all(void *user)
{
    peer *self = user;
    int on = 1;

    for (;;) {
        int fd = accept(self->fd, NULL, NULL);
        session *made;

        if (fd < 0 || self->count == SESSIONS_MAX)
            return NULL;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        made = calloc(1, sizeof(*made));
        made->peer = self;
        made->fd = self->fds[self->count] = fd;
        pthread_create(&self->threads[self->count], NULL, serve, made);
        __atomic_add_fetch(&self->count, 1, __ATOMIC_SEQ_CST);
    }
}

static void peer_start(peer *self, bool (*act)(session *self))
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    char path[CERTIFICATES_PATH_SIZE];

    memset(self, 0, sizeof(*self));
    self->act = act;
    self->context = SSL_CTX_new(TLS_server_method());
    certificates_path(issued, "server.pem", path);
    assert_int_equal(
        SSL_CTX_use_certificate_file(self->context, path, SSL_FILETYPE_PEM), 1);
    certificates_path(issued, "server.key", path);
    assert_int_equal(
        SSL_CTX_use_PrivateKey_file(self->context, path, SSL_FILETYPE_PEM), 1);
    SSL_CTX_set_security_level(self->context, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    self->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(self->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(self->fd, 16), 0);
    getsockname(self->fd, (struct sockaddr *)&address, &size);
    self->port = ntohs(address.sin_port);
}

/* Begin to listen, once the test has set the peer's behaviour. */
static void peer_go(peer *self)
{
    pthread_create(&self->listener, NULL, listen_all, self);
}

/* How many connections there have been, of which `least` are certain. */
static unsigned peer_count(const peer *self, unsigned least)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    unsigned count;

    while ((count = __atomic_load_n(&self->count, __ATOMIC_SEQ_CST)) < least) {
        assert_true(hf__clock_boot_ms() < until_ms);
        sched_yield();
    }
    return count;
}

/* Wait until a session has ended. */
static void peer_join(peer *self, unsigned at)
{
    if (!self->joined[at])
        pthread_join(self->threads[at], NULL);
    self->joined[at] = true;
}

static void peer_stop(peer *self)
{
    shutdown(self->fd, SHUT_RDWR);
    pthread_join(self->listener, NULL);
    for (unsigned at = 0; at < self->count; at++) {
        shutdown(self->fds[at], SHUT_RDWR);
        peer_join(self, at);
        close(self->fds[at]);
    }
    close(self->fd);
    SSL_CTX_free(self->context);
}

static void url_of(const peer *self, char url[256])
{
    char path[CERTIFICATES_PATH_SIZE];

    snprintf(url, 256, "rediss://localhost:%d?tls_ca=%s", self->port,
             certificates_path(issued, "ca.pem", path));
}

static void open_peer(peer *self, test_driver *driver)
{
    char url[256];

    peer_go(self);
    url_of(self, url);
    driver_open(driver, url);
}

static void run(test_driver *driver, test_call *call, bool shared)
{
    CALL(call, ENOUGH_MS, "SET", "k", "v");
    if (shared) {
        call_submit(driver, call);
        call_wait(call);
    } else {
        call_perform(driver, call);
    }
}

/* Wait until the peer has done all that follows a reply, too. */
static void peer_rest(const peer *self, uint32_t answered)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;

    while (__atomic_load_n(&self->answered, __ATOMIC_SEQ_CST) < answered) {
        assert_true(hf__clock_boot_ms() < until_ms);
        sched_yield();
    }
}

/* A few requests both ways, all of which succeed on one connection each. */
static void assert_works(peer *self)
{
    uint32_t asked = 0;
    test_driver driver;
    test_call call;

    open_peer(self, &driver);
    for (int shared = 0; shared < 2; shared++) {
        for (int at = 0; at < 4; at++) {
            run(&driver, &call, shared);
            assert_text(&call, "YES");
            assert_int_equal(call.request.sends, 1);
            call_end(&call);
            __atomic_store_n(&self->taken, ++asked, __ATOMIC_SEQ_CST);
            peer_rest(self, asked);
        }
    }
    assert_int_equal(peer_count(self, 2), 2);
    driver_close(&driver);
    peer_stop(self);
}

/* One request each way ends with this status. */
static void assert_ends(peer *self, hf_status status, const char *why)
{
    test_driver driver;
    test_call call;

    open_peer(self, &driver);
    for (int shared = 0; shared < 2; shared++) {
        run(&driver, &call, shared);
        assert_status(&call, status);
        if (strstr(call.request.error.message, why) == NULL)
            fail_msg("\"%s\" instead of \"%s\"", call.request.error.message,
                     why);
        call_end(&call);
    }
    driver_close(&driver);
    peer_stop(self);
}

static void assert_no_open(peer *self, hf_status status, const char *why)
{
    hf_error err = HF_ERROR_INIT;
    int64_t begin_ms = hf__clock_boot_ms();
    test_driver driver;
    char url[256];

    peer_go(self);
    url_of(self, url);
    assert_int_equal(driver_try_open(&driver, url, NULL, NULL, &err), status);
    if (strstr(err.message, why) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", err.message, why);
    assert_in_time(hf__clock_boot_ms() - begin_ms, 1300); /* connect_ms: 1000 */
    peer_stop(self);
}

/* ------------------------------------------------------------------ tests */

static bool says_yes(session *self)
{
    return say(self, "$3\r\nYES\r\n");
}

TEST(bytes_may_come_one_at_a_time)
{
    peer one;

    peer_start(&one, says_yes);
    one.dribbles = true;
    assert_works(&one);
    peer_start(&one, says_yes);
    one.dribbles = true;
    SSL_CTX_set_max_proto_version(one.context, TLS1_2_VERSION);
    assert_works(&one);
}

static bool updates_keys(session *self)
{
    return SSL_key_update(self->ssl, SSL_KEY_UPDATE_REQUESTED) == 1 &&
           says_yes(self);
}

TEST(keys_may_be_updated_at_any_time)
{
    peer one;

    peer_start(&one, updates_keys);
    assert_works(&one);
}

/* When the client has the reply, so that the ticket waits while the connection
 * is idle. */
static bool sends_ticket_late(session *self)
{
    const peer *all = self->peer;
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    bool said = says_yes(self);

    while (__atomic_load_n(&all->taken, __ATOMIC_SEQ_CST) == all->answered &&
           hf__clock_boot_ms() < until_ms)
        sched_yield();
    return said && SSL_new_session_ticket(self->ssl) == 1 &&
           SSL_do_handshake(self->ssl) == 1;
}

TEST(idle_connection_with_a_ticket_is_kept)
{
    peer one;

    peer_start(&one, sends_ticket_late);
    assert_works(&one);
}

static bool ends_orderly(session *self)
{
    if (self->number == 0)
        return says_yes(self);
    SSL_shutdown(self->ssl);
    return false;
}

TEST(close_notify_ends_the_connection)
{
    peer one;
    test_driver driver;
    test_call call;

    peer_start(&one, ends_orderly);
    open_peer(&one, &driver);
    for (int shared = 0; shared < 2; shared++) {
        run(&driver, &call, shared);
        assert_text(&call, "YES");
        call_end(&call);
        run(&driver, &call, shared);
        assert_status(&call, HF_INDETERMINATE);
        assert_non_null(
            strstr(call.request.error.message, "closed the connection"));
        call_end(&call);
        run(&driver, &call, shared);
        assert_text(&call, "YES");
        call_end(&call);
    }
    driver_close(&driver);
    peer_stop(&one);
}

/* The peer closes between two requests: the second one uses a new connection,
 * and its outcome is known. */
static bool leaves_after_each(session *self)
{
    says_yes(self);
    SSL_shutdown(self->ssl);
    return false;
}

TEST(connection_that_was_closed_is_not_used)
{
    peer one;
    test_driver driver;
    test_call call;

    peer_start(&one, leaves_after_each);
    open_peer(&one, &driver);
    for (unsigned at = 0; at < 4; at++) {
        run(&driver, &call, false);
        assert_text(&call, "YES");
        call_end(&call);
        /* Its last bytes have arrived when the session's thread has ended. */
        assert_int_equal(peer_count(&one, at + 1), at + 1);
        peer_join(&one, at);
    }
    driver_close(&driver);
    peer_stop(&one);
}

/* A reset, not an orderly close: writing after it would raise SIGPIPE. */
static bool resets_after_each(session *self)
{
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

    return says_yes(self) && connect(self->fd, &nowhere, sizeof(nowhere)) != 0;
}

TEST(connection_that_was_reset_is_not_used)
{
    peer one;
    test_driver driver;
    test_call call;

    peer_start(&one, resets_after_each);
    open_peer(&one, &driver);
    for (unsigned at = 0; at < 4; at++) {
        run(&driver, &call, false);
        assert_text(&call, "YES");
        call_end(&call);
        assert_int_equal(peer_count(&one, at + 1), at + 1);
        peer_join(&one, at);
    }
    driver_close(&driver);
    peer_stop(&one);
}

/* Far more records than are read in one turn, all there at once: records that
 * TLS has already read no longer make the socket readable. */
static bool answers_in_many_records(session *self)
{
    enum { RECORDS = 100 };
    bool sent;

    self->gathers = true;
    sent = say(self, "$300\r\n");
    for (int at = 0; at < RECORDS && sent; at++)
        sent = say(self, "abc");
    sent = sent && say(self, "\r\n");
    self->gathers = false;
    sent = sent && send(self->fd, self->gathered, self->gathered_size,
                        MSG_NOSIGNAL) == (ssize_t)self->gathered_size;
    self->gathered_size = 0;
    return sent;
}

TEST(many_records_at_once_are_all_read)
{
    peer one;
    test_driver driver;
    test_call call;

    peer_start(&one, answers_in_many_records);
    open_peer(&one, &driver);
    for (int shared = 0; shared < 2; shared++) {
        run(&driver, &call, shared);
        assert_status(&call, HF_OK);
        assert_int_equal(call.request.reply.bytes.size, 300);
        call_end(&call);
    }
    driver_close(&driver);
    peer_stop(&one);
}

static bool cuts_a_record(session *self)
{
    static const char header[] = "\x17\x03\x03\x00\x40half";

    return send(self->fd, header, sizeof(header) - 1, MSG_NOSIGNAL) < 0;
}

TEST(half_a_record_is_a_lost_answer)
{
    peer one;

    peer_start(&one, cuts_a_record);
    assert_ends(&one, HF_INDETERMINATE, "closed the connection");
}

static bool forges_a_record(session *self)
{
    static const char record[] = "\x17\x03\x03\x00\x20"
                                 "01234567890123456789012345678901";

    return send(self->fd, record, sizeof(record) - 1, MSG_NOSIGNAL) > 0;
}

TEST(forged_record_is_a_lost_answer)
{
    peer one;

    peer_start(&one, forges_a_record);
    assert_ends(&one, HF_INDETERMINATE, "bad record mac");
}

static bool answers_in_the_clear(session *self)
{
    return send(self->fd, "+YES\r\n", 6, MSG_NOSIGNAL) == 6;
}

TEST(plain_answer_is_no_answer)
{
    peer one;

    peer_start(&one, answers_in_the_clear);
    assert_ends(&one, HF_INDETERMINATE, "TLS");
}

static bool asks_to_renegotiate(session *self)
{
    return SSL_renegotiate(self->ssl) == 1 &&
           SSL_do_handshake(self->ssl) == 1 && says_yes(self);
}

/* The peer replies first and then, when it reads more, gets the refusal, which
 * OpenSSL reports as an error: each reply ends a connection. */
TEST(renegotiation_is_refused)
{
    peer one;
    test_driver driver;
    test_call call;

    peer_start(&one, asks_to_renegotiate);
    SSL_CTX_set_max_proto_version(one.context, TLS1_2_VERSION);
    open_peer(&one, &driver);
    for (int shared = 0; shared < 2; shared++) {
        run(&driver, &call, shared);
        assert_text(&call, "YES");
        call_end(&call);
        CALL(&call, ENOUGH_MS, "PING"); /* so that the refusal is read */
        call_perform(&driver, &call);
        call_end(&call);
    }
    assert_int_equal(peer_count(&one, 4), 4);
    driver_close(&driver);
    peer_stop(&one);
}

static bool never_answers(session *self)
{
    char byte;

    while (recv(self->fd, &byte, 1, 0) == 1)
        continue;
    return false;
}

TEST(handshake_without_an_answer_ends_at_connect_ms)
{
    peer one;

    peer_start(&one, says_yes);
    one.accepts = never_answers;
    assert_no_open(&one, HF_UNAVAILABLE, "did not answer the TLS handshake");
}

static bool talks_plain(session *self)
{
    return send(self->fd, "-ERR what\r\n", 11, MSG_NOSIGNAL) == 11 &&
           never_answers(self);
}

TEST(peer_without_tls_is_reported)
{
    peer one;

    peer_start(&one, says_yes);
    one.accepts = talks_plain;
    assert_no_open(&one, HF_UNAVAILABLE, "is this a plain port?");
}

static bool closes(session *self)
{
    (void)self;
    return false;
}

TEST(peer_that_closes_in_the_handshake_is_unavailable)
{
    peer one;

    peer_start(&one, says_yes);
    one.accepts = closes;
    assert_no_open(&one, HF_UNAVAILABLE, "no TLS handshake with");
}

static bool alerts(session *self)
{
    static const char alert[] = "\x15\x03\x03\x00\x02\x02\x28";

    return send(self->fd, alert, 7, MSG_NOSIGNAL) == 7 && never_answers(self);
}

TEST(refused_handshake_is_denied)
{
    peer one;

    peer_start(&one, says_yes);
    one.accepts = alerts;
    assert_no_open(&one, HF_DENIED, "handshake failure");
}

TEST(old_versions_are_refused)
{
    peer one;

    peer_start(&one, says_yes);
    SSL_CTX_set_min_proto_version(one.context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(one.context, TLS1_1_VERSION);
    assert_no_open(&one, HF_UNAVAILABLE, "version");
}

static int begin(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_DFL); /* it must never be raised */
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "peer");
    BIO_meth_set_write(method, bio_write);
    BIO_meth_set_read(method, bio_read);
    BIO_meth_set_ctrl(method, bio_control);
    issued = certificates_new();
    return issued != NULL && certificates_issue_server(issued) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    certificates_free(issued);
    BIO_meth_free(method);
    return 0;
}

ALL_TESTS_WITH(begin, end);
