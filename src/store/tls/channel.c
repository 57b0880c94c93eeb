/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - TLS over a socket that the caller polls.
 *
 * OpenSSL uses a BIO of ours, as its own would write() without MSG_NOSIGNAL,
 * and as each call chooses whether reading blocks. Results are mapped to those
 * of send() and recv(): EAGAIN with what the socket must be ready for, 0 at end
 * of stream, an errno of the socket, or EPROTO with a stored reason.
 *
 * The peer cannot decrypt an incomplete record, so hf__secure_send() counts
 * whole records only; anything else was not sent. For the same reason no
 * close_notify is sent while a record is half written.
 *
 * TLS 1.2's renegotiation is refused; TLS 1.3's key update and tickets are
 * handled by reading.
 */
#include "store/tls/channel.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/tls/openssl.h"
#include "util/error.h"
#include "util/mem.h"

struct hf__secure {
    SSL *ssl;
    int fd;
    bool waits;       /* reads may */
    bool half;        /* a record is half written */
    bool mute;        /* writing failed; an alert may still be readable */
    bool heard;       /* a byte was received */
    bool broken;      /* OpenSSL may only be freed */
    int sys_errno;    /* of the socket's last failure */
    hf_status status; /* HF_DENIED: a certificate is not trusted */
    char reason[128]; /* "": none */
};

/* -------------------------------------------------------------------- BIO */

static int bio_write(BIO *bio, const char *data, int size)
{
    hf__secure *self = BIO_get_data(bio);
    ssize_t sent =
        send(self->fd, data, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);

    BIO_clear_retry_flags(bio);
    if (sent >= 0)
        return (int)sent;
    self->sys_errno = errno;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        BIO_set_retry_write(bio);
    return -1;
}

static int bio_read(BIO *bio, char *data, int size)
{
    hf__secure *self = BIO_get_data(bio);
    ssize_t got =
        recv(self->fd, data, (size_t)size, self->waits ? 0 : MSG_DONTWAIT);

    BIO_clear_retry_flags(bio);
    if (got > 0) {
        self->heard = true;
        return (int)got;
    }
    if (got == 0) {
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
        return 0;
    }
    self->sys_errno = errno;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        BIO_set_retry_read(bio);
    return -1;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return command == BIO_CTRL_FLUSH;
}

static pthread_once_t method_once = PTHREAD_ONCE_INIT;
static BIO_METHOD *method; /* for all, kept; NULL: out of memory */

static void make_method(void)
{
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                                    "holdfast socket");

    if (made == NULL)
        return;
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    method = made;
}

static bool attach_bio(hf__secure *self)
{
    BIO *bio;

    pthread_once(&method_once, make_method);
    bio = method == NULL ? NULL : BIO_new(method);
    if (bio == NULL)
        return false;
    BIO_set_data(bio, self);
    BIO_set_init(bio, 1);
    SSL_set_bio(self->ssl, bio, bio); /* which owns it now */
    return true;
}

/* ------------------------------------------------------------- open, close */

void hf__channel_init(hf__channel *channel)
{
    memset(channel, 0, sizeof(*channel));
    channel->fd = -1;
    channel->read_wants = POLLIN;
    channel->write_wants = POLLOUT;
}

static hf__secure *make_secure(int fd, hf__tls *tls, const char *host)
{
    hf__secure *self = hf__calloc(1, sizeof(*self));

    if (self == NULL)
        return NULL;
    self->fd = fd;
    self->ssl = hf__tls_begin(tls, host);
    if (self->ssl != NULL && attach_bio(self))
        return self;
    SSL_free(self->ssl);
    hf__free(self);
    return NULL;
}

bool hf__channel_open(hf__channel *channel, int fd, hf__tls *tls,
                      const char *host)
{
    hf__channel_init(channel);
    if (tls != NULL) {
        channel->secure = make_secure(fd, tls, host);
        if (channel->secure == NULL)
            return false;
    }
    channel->fd = fd;
    return true;
}

void hf__channel_close(hf__channel *channel)
{
    hf__secure *self = channel->secure;

    if (self != NULL) {
        ERR_clear_error();
        if (!self->broken && !self->mute && !self->half &&
            SSL_is_init_finished(self->ssl))
            SSL_shutdown(self->ssl);
        SSL_free(self->ssl);
        ERR_clear_error();
        hf__free(self);
    }
    if (channel->fd >= 0)
        close(channel->fd);
    hf__channel_init(channel);
}

void hf__channel_close_forked(hf__channel *channel)
{
    if (channel->fd >= 0)
        close(channel->fd);
    hf__channel_init(channel);
}

/* ---------------------------------------------------------------- results */

/* Alerts by which a server rejects our certificate. */
static bool is_refusal(unsigned long code)
{
    switch (ERR_GET_REASON(code)) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_SSLV3_ALERT_NO_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV1_ALERT_INSUFFICIENT_SECURITY:
    case SSL_R_TLSV1_UNRECOGNIZED_NAME:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        return ERR_GET_LIB(code) == ERR_LIB_SSL;
    default:
        return false;
    }
}

static bool is_no_tls(unsigned long code)
{
    return ERR_GET_LIB(code) == ERR_LIB_SSL &&
           (ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER ||
            ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST ||
            ERR_GET_REASON(code) == SSL_R_PACKET_LENGTH_TOO_LONG);
}

static void keep_reason(hf__secure *self)
{
    unsigned long code = ERR_peek_error();
    const char *distrust = hf__tls_distrust(self->ssl);
    const char *text = ERR_reason_error_string(code);

    self->status = is_refusal(code) ? HF_DENIED : HF_OK;
    if (self->status == HF_DENIED && distrust != NULL)
        snprintf(self->reason, sizeof(self->reason),
                 "its certificate is not trusted: %s", distrust);
    else if (is_no_tls(code))
        snprintf(self->reason, sizeof(self->reason),
                 "what it sent is not TLS; is this a plain port?");
    else
        snprintf(self->reason, sizeof(self->reason), "TLS: %s",
                 text != NULL ? text : "no reason is known");
}

/* Map a failed call: EAGAIN and *wants, 0 for end of stream, or the error. */
static int map_failure(hf__secure *self, int result, short *wants)
{
    switch (SSL_get_error(self->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *wants = POLLIN;
        return EAGAIN;
    case SSL_ERROR_WANT_WRITE:
        *wants = POLLOUT;
        return EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        self->mute = true;
        return self->sys_errno != 0 ? self->sys_errno : ECONNRESET;
    default:
        self->broken = true;
        keep_reason(self);
        ERR_clear_error();
        return EPROTO;
    }
}

int hf__channel_handshake(hf__channel *channel)
{
    hf__secure *self = channel->secure;
    int result;
    int rc;

    if (self == NULL)
        return 0;
    ERR_clear_error();
    self->sys_errno = 0;
    result = SSL_do_handshake(self->ssl);
    if (result == 1)
        return 0;
    rc = map_failure(self, result, &channel->read_wants);
    return rc == 0 ? ECONNRESET : rc;
}

ssize_t hf__secure_send(hf__channel *channel, const void *data, size_t size)
{
    hf__secure *self = channel->secure;
    size_t sent = 0;
    int result;

    if (self->broken || self->mute) {
        errno = self->broken ? EPROTO : EPIPE;
        return -1;
    }
    ERR_clear_error();
    self->sys_errno = 0;
    result = SSL_write_ex(self->ssl, data, size, &sent);
    channel->write_wants = POLLOUT;
    self->half = false;
    if (result == 1)
        return (ssize_t)sent;
    errno = map_failure(self, result, &channel->write_wants);
    self->half = errno == EAGAIN;
    if (errno == 0)
        errno = EPIPE;
    return -1;
}

ssize_t hf__secure_recv(hf__channel *channel, void *data, size_t size,
                        bool waits)
{
    hf__secure *self = channel->secure;
    size_t got = 0;
    int result;
    int rc;

    if (self->broken) {
        errno = EPROTO;
        return -1;
    }
    ERR_clear_error();
    self->sys_errno = 0;
    self->waits = waits;
    result = SSL_read_ex(self->ssl, data, size, &got);
    self->waits = false;
    channel->read_wants = POLLIN;
    if (result == 1)
        return (ssize_t)got;
    rc = map_failure(self, result, &channel->read_wants);
    errno = rc;
    return rc == 0 ? 0 : -1;
}

bool hf__channel_has_pending(const hf__channel *channel)
{
    return channel->secure != NULL && !channel->secure->broken &&
           SSL_has_pending(channel->secure->ssl) == 1;
}

static bool is_readable(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
           (errno != EAGAIN && errno != EINTR);
}

/* A ticket or key update, read here, is not followed by data; data that was
 * read here is still there the next time. */
bool hf__channel_is_stale(hf__channel *channel)
{
    hf__secure *self = channel->secure;
    short wants = 0;
    char byte;
    int result;

    if (!is_readable(channel->fd) && !hf__channel_has_pending(channel))
        return false;
    if (self == NULL || self->broken)
        return true;
    ERR_clear_error();
    self->sys_errno = 0;
    result = SSL_peek(self->ssl, &byte, 1);
    return result > 0 || map_failure(self, result, &wants) != EAGAIN;
}

hf_status hf__channel_fail(const hf__channel *channel, hf_error *err,
                           hf_status status, int sys_errno, const char *what,
                           const char *peer)
{
    const hf__secure *self = channel->secure;

    if (self == NULL || sys_errno != EPROTO || self->reason[0] == '\0')
        return hf__fail_errno(err, status, sys_errno, "%s %s", what, peer);
    return hf__fail(err, self->status != HF_OK ? self->status : status,
                    "%s %s: %s", what, peer, self->reason);
}

hf_status hf__channel_late(const hf__channel *channel, hf_error *err,
                           const char *peer)
{
    if (channel->secure != NULL && channel->secure->heard)
        return hf__fail(err, HF_UNAVAILABLE,
                        "timed out in the TLS handshake with %s", peer);
    return hf__fail(err, HF_UNAVAILABLE,
                    "%s did not answer the TLS handshake in time; is it a "
                    "plain port?",
                    peer);
}

const struct ssl_st *hf__channel_ssl(const hf__channel *channel)
{
    return channel->secure != NULL ? channel->secure->ssl : NULL;
}
