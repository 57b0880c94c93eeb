/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_socket_test.c - the socket options of connections to servers; writing
 * to a closed one raises no signal.
 */
#include "redis_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "store/redis/wire/resolve.h"
#include "store/redis/wire/socket.h"
#include "store/tls/channel.h"

static void drain(int fd, unsigned connection, void *user)
{
    char text[64];

    (void)connection;
    (void)user;
    while (fake_server_read(fd, text, sizeof(text)))
        ;
}

static void close_at_once(int fd, unsigned connection, void *user)
{
    (void)fd;
    (void)connection;
    (void)user;
}

static int connect_to(const fake_server *server)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_storage address = {0};
    int fd;

    in.sin_port = htons((uint16_t)fake_server_port(server));
    memcpy(&address, &in, sizeof(in));
    assert_int_equal(hf__socket_connect(&address, sizeof(in), &fd), 0);
    assert_int_equal(
        hf__socket_wait(fd, POLLOUT, hf__clock_boot_ms() + ENOUGH_MS) & POLLOUT,
        POLLOUT);
    assert_int_equal(hf__socket_connected(fd), 0);
    return fd;
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof(value);

    assert_int_equal(getsockopt(fd, level, name, &value, &size), 0);
    return value;
}

/* A peer that is dead is noticed within seconds, not hours. */
TEST(dead_peers_are_noticed_by_the_system)
{
    fake_server *server = fake_server_start_tcp(drain, NULL);
    int fd;

    assert_non_null(server);
    fd = connect_to(server);
    assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 5);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 1);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 5000);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    close(fd);
    fake_server_stop(server);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

TEST(writing_to_a_closed_connection_raises_nothing)
{
    fake_server *server = fake_server_start_tcp(close_at_once, NULL);
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    struct sigaction action = {.sa_handler = count_signal};
    struct sigaction before;
    hf__channel channel;
    ssize_t sent;

    assert_non_null(server);
    assert_int_equal(sigaction(SIGPIPE, &action, &before), 0);
    assert_true(hf__channel_open(&channel, connect_to(server), NULL, ""));
    do {
        assert_true(hf__clock_boot_ms() < until_ms);
        sent = hf__channel_send(&channel, "PING\r\n", 6);
    } while (sent > 0 || errno == EAGAIN);
    assert_true(errno == EPIPE || errno == ECONNRESET);
    assert_int_equal(hf__channel_send(&channel, "PING\r\n", 6), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(signals, 0);
    hf__channel_close(&channel);
    (void)sigaction(SIGPIPE, &before, NULL);
    fake_server_stop(server);
}
