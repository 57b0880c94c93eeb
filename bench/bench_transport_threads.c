/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_transport_threads.c - SET with an expiry by 1 to 64 threads that share
 * one client, against as many blocking sockets, one per thread.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench_transport.h"
#include "holdfast/value.h"

#define VALUE "0123456789abcdef0123456789abcdef"
#define TTL_MS 30000

/* --------------------------------------------------------------------- raw */

struct transport_raw {
    int fd;
    SSL_CTX *context; /* NULL: plain */
    SSL *ssl;
};

static bool start_tls(transport_raw *raw, const redis_server_tls *tls)
{
    raw->context = SSL_CTX_new(TLS_client_method());
    if (raw->context == NULL)
        return false;
    SSL_CTX_set_verify(raw->context, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_load_verify_file(raw->context, tls->ca) != 1)
        return false;
    raw->ssl = SSL_new(raw->context);
    return raw->ssl != NULL && SSL_set_fd(raw->ssl, raw->fd) == 1 &&
           SSL_connect(raw->ssl) == 1;
}

transport_raw *transport_raw_open(const transport *to)
{
    int port = to->tls != NULL ? redis_server_tls_port(to->server)
                               : redis_server_port(to->server);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    transport_raw *raw = calloc(1, sizeof(*raw));
    int on = 1;

    if (raw == NULL)
        return NULL;
    raw->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(raw->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(raw->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        (to->tls == NULL || start_tls(raw, to->tls)))
        return raw;
    bench_fail("cannot connect to port %d", port);
    transport_raw_close(raw);
    return NULL;
}

bool transport_raw_ask(transport_raw *raw, const char *request, size_t size)
{
    char answer[512];
    ssize_t got;

    if (raw->ssl != NULL) {
        if (SSL_write(raw->ssl, request, (int)size) != (int)size)
            return bench_fail("cannot send");
        got = SSL_read(raw->ssl, answer, sizeof(answer));
    } else {
        if (send(raw->fd, request, size, MSG_NOSIGNAL) != (ssize_t)size)
            return bench_fail("cannot send");
        got = recv(raw->fd, answer, sizeof(answer), 0);
    }
    if (got < 4 || answer[0] == '-' || answer[got - 1] != '\n')
        return bench_fail("unexpected answer of %zd bytes", got);
    return true;
}

void transport_raw_close(transport_raw *raw)
{
    if (raw == NULL)
        return;
    SSL_free(raw->ssl);
    SSL_CTX_free(raw->context);
    if (raw->fd >= 0)
        close(raw->fd);
    free(raw);
}

/* ------------------------------------------------------------------- figure */

typedef struct setting {
    hf_client *client;
    transport_raw *raw[TRANSPORT_THREADS_MAX];
} setting;

static bool set_ours(void *user, int thread, const bool *stop, int64_t *done)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;
    hf_error error = HF_ERROR_INIT;
    setting *self = user;
    char name[BENCH_NAME_SIZE];

    options.ttl_ms = TTL_MS;
    snprintf(name, sizeof(name), "key-%02d", thread);
    while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
        if (hf_value_set(self->client, hf_str(name), hf_str(VALUE), &options,
                         NULL, &error) != HF_OK)
            return bench_fail("%s", error.message);
        ++*done;
    }
    return true;
}

static bool set_raw(void *user, int thread, const bool *stop, int64_t *done)
{
    setting *self = user;
    char request[TRANSPORT_LINE_SIZE];
    int size = snprintf(request, sizeof(request),
                        "*5\r\n$3\r\nSET\r\n$6\r\nkey-%02d\r\n$32\r\n" VALUE
                        "\r\n$2\r\nPX\r\n$5\r\n%d\r\n",
                        thread, TTL_MS);

    while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
        if (!transport_raw_ask(self->raw[thread], request, (size_t)size))
            return false;
        ++*done;
    }
    return true;
}

static bool measure_threads(const transport *to, setting *both, int threads,
                            double asked)
{
    const transport_subject ours = {
        .work = {.work = set_ours, .user = both, .threads = threads}};
    const transport_subject raw = {
        .work = {.work = set_raw, .user = both, .threads = threads}};
    const bench_figure figure = {.name = "value_set",
                                 .ceiling = "a raw socket per thread",
                                 .threads = threads,
                                 .asked_ratio = to->tls == NULL ? asked : 0};
    transport_result result;

    if (!transport_compare(to->run, &ours, &raw, &result))
        return false;
    transport_print(to, &figure, &result);
    return true;
}

/* The same call by TLS and by plain TCP: what TLS costs. */
static bool measure_tls(const transport *to, setting *secured)
{
    setting plain = {NULL, {NULL}};
    const transport_subject with = {
        .work = {.work = set_ours, .user = secured, .threads = 1}};
    const transport_subject without = {
        .work = {.work = set_ours, .user = &plain, .threads = 1}};
    const bench_figure figure = {
        .name = "tls_cost", .ceiling = "the same by plain TCP", .threads = 1};
    hf_error error = HF_ERROR_INIT;
    transport_result result;
    bool ok = hf_client_open(redis_server_tcp_url(to->server), NULL,
                             &plain.client, &error) == HF_OK
                  ? transport_compare(to->run, &with, &without, &result)
                  : bench_fail("%s", error.message);

    if (ok)
        transport_print(to, &figure, &result);
    hf_client_close(plain.client);
    return ok;
}

bool transport_threads(const transport *to)
{
    static const struct {
        int threads;
        double asked;
    } rows[] = {{1, 0.9}, {2, 0.95}, {4, 0.95}, {16, 0}, {64, 2}};
    hf_error error = HF_ERROR_INIT;
    setting both = {NULL, {NULL}};
    bool ok = hf_client_open(to->url, NULL, &both.client, &error) == HF_OK ||
              bench_fail("%s", error.message);

    for (int i = 0; ok && i < TRANSPORT_THREADS_MAX; i++) {
        both.raw[i] = transport_raw_open(to);
        ok = both.raw[i] != NULL;
    }
    for (size_t i = 0; ok && i < sizeof(rows) / sizeof(rows[0]); i++)
        ok = measure_threads(to, &both, rows[i].threads, rows[i].asked);
    if (ok && to->tls != NULL)
        ok = measure_tls(to, &both);
    for (int i = 0; i < TRANSPORT_THREADS_MAX; i++)
        transport_raw_close(both.raw[i]);
    hf_client_close(both.client);
    return ok;
}
