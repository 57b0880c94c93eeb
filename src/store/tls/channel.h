/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - the bytes of one connection: a socket, or TLS over it. Both kinds
 * of connection use it, one thread at a time; for a plain socket it is just
 * send() and recv().
 *
 * Calls never raise SIGPIPE and never block, except a recv that may wait.
 * EAGAIN: try again when the socket is ready for `read_wants` or `write_wants`:
 * TLS may have to write before it can read.
 */
#ifndef HF__STORE_CHANNEL_H
#define HF__STORE_CHANNEL_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "holdfast/base.h"
#include "store/tls/tls.h"

typedef struct hf__secure hf__secure;

typedef struct hf__channel {
    int fd;             /* -1: none */
    hf__secure *secure; /* NULL: plain */
    short read_wants;   /* POLLIN or POLLOUT */
    short write_wants;
} hf__channel;

void hf__channel_init(hf__channel *channel);

/* Take over a connected socket; with `tls`, a handshake with `host` is next.
 * false: out of memory, and the socket is still the caller's. */
bool hf__channel_open(hf__channel *channel, int fd, hf__tls *tls,
                      const char *host);

/* One step of the handshake: 0 when complete (immediately on a plain socket),
 * otherwise an errno, EAGAIN with read_wants. */
int hf__channel_handshake(hf__channel *channel);

/* Close, with a close_notify if the socket accepts one. */
void hf__channel_close(hf__channel *channel);

/* In a forked child: close the descriptor without a close_notify, as the
 * connection is the parent's. OpenSSL's memory is leaked: its locks may be held
 * by the parent's threads. */
void hf__channel_close_forked(hf__channel *channel);

/* OpenSSL's side of a connection with TLS; else NULL. */
const struct ssl_st *hf__channel_ssl(const hf__channel *channel);

ssize_t hf__secure_send(hf__channel *channel, const void *data, size_t size);
ssize_t hf__secure_recv(hf__channel *channel, void *data, size_t size,
                        bool waits);

/* As send(): the number of bytes accepted, or -1 and errno. */
static inline ssize_t hf__channel_send(hf__channel *channel, const void *data,
                                       size_t size)
{
    if (channel->secure != NULL)
        return hf__secure_send(channel, data, size);
    return send(channel->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The same for several pieces; by TLS for the first. */
static inline ssize_t hf__channel_send_pieces(hf__channel *channel,
                                              struct iovec *pieces,
                                              size_t count)
{
    struct msghdr all = {.msg_iov = pieces};

    /* An int in musl. */
    all.msg_iovlen = (__typeof__(all.msg_iovlen))count;
    if (count == 1 || channel->secure != NULL)
        return hf__channel_send(channel, pieces[0].iov_base, pieces[0].iov_len);
    return sendmsg(channel->fd, &all, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* As recv(): 0 is end of stream, -1 sets errno. `waits`: for the socket's
 * SO_RCVTIMEO, then EAGAIN. */
static inline ssize_t hf__channel_recv(hf__channel *channel, void *data,
                                       size_t size, bool waits)
{
    if (channel->secure != NULL)
        return hf__secure_recv(channel, data, size, waits);
    return recv(channel->fd, data, size, waits ? 0 : MSG_DONTWAIT);
}

/* May there be buffered input although the socket is not readable? */
bool hf__channel_has_pending(const hf__channel *channel);

/* Has the peer closed or reset the connection, or sent unexpected input? */
bool hf__channel_is_stale(hf__channel *channel);

/*
 * Fill `err`: `what` ("cannot read from") failed on `peer` with an errno.
 * HF_DENIED if TLS reports missing trust on either side; otherwise `status`.
 */
hf_status hf__channel_fail(const hf__channel *channel, hf_error *err,
                           hf_status status, int sys_errno, const char *what,
                           const char *peer);

/* Fill `err`: the handshake with `peer` timed out, HF_UNAVAILABLE. */
hf_status hf__channel_late(const hf__channel *channel, hf_error *err,
                           const char *peer);

#endif
