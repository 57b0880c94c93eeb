/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.c - socket calls common to both kinds of connection.
 */
#include "store/redis/wire/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "util/clock.h"

/* A dead peer is detected in about 5 + 3 * 1 s while the connection is idle,
 * and in 5 s while data is unacknowledged; Linux's defaults are two hours and
 * fifteen minutes. */
#define KEEPALIVE_IDLE_S 5
#define KEEPALIVE_INTERVAL_S 1
#define KEEPALIVE_COUNT 3
#define USER_TIMEOUT_MS 5000

static void set_int(int fd, int level, int option, int value)
{
    /* Only for faster detection of failures, so errors are ignored. */
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

static void set_tcp_options(int fd)
{
    set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
    set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
}

int hf__socket_connect(const struct sockaddr_storage *address, socklen_t size,
                       int *fd)
{
    int made = socket(address->ss_family,
                      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc;

    if (made < 0)
        return errno;
    if (address->ss_family != AF_UNIX)
        set_tcp_options(made);
    rc = connect(made, (const struct sockaddr *)address, size) == 0 ? 0 : errno;
    if (rc != 0 && rc != EINPROGRESS && rc != EINTR) {
        close(made);
        return rc;
    }
    *fd = made;
    return 0;
}

hf_status hf__socket_status(int sys_errno)
{
    switch (sys_errno) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EAFNOSUPPORT:
        return HF_SYSTEM;
    case EACCES:
    case EPERM:
        return HF_DENIED;
    default:
        return HF_UNAVAILABLE;
    }
}

int hf__socket_connected(int fd)
{
    int error = 0;
    socklen_t size = sizeof(error);

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return errno;
    return error;
}

int hf__socket_wait(int fd, short events, int64_t until_ms)
{
    return hf__socket_wait_or(fd, events, -1, until_ms);
}

int hf__socket_wait_or(int fd, short events, int other, int64_t until_ms)
{
    struct pollfd waiting[] = {{.fd = fd, .events = events},
                               {.fd = other, .events = POLLIN}};
    int64_t left_ms;
    int rc;

    for (;;) {
        left_ms = until_ms - hf__clock_boot_ms();
        if (left_ms <= 0)
            return 0;
        /* Wakes at least once a minute, as poll() does not count suspended
         * time. */
        rc = poll(waiting, 2, left_ms < 60000 ? (int)left_ms : 60000);
        if (rc > 0)
            return waiting[0].revents;
        if (rc < 0 && errno != EINTR)
            return POLLERR;
    }
}

bool hf__socket_make_blocking(int fd, int64_t wait_ms)
{
    struct timeval span = {.tv_sec = wait_ms / 1000,
                           .tv_usec = (wait_ms % 1000) * 1000};
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof(span)) == 0;
}
