/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_proxy.c - see byte_proxy.h.
 *
 * One thread does everything, with non-blocking sockets: it polls without the
 * mutex, then takes it and advances every connection as far as possible. Other
 * threads take the mutex, change the settings or close connections, and wake
 * it. What poll() found only decides where reading is tried, so changes in
 * between do not matter.
 *
 * Locks: `mutex` guards everything but the sockets' names.
 */
#include "support/byte_proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE 100
#define TUNNELS_MAX 512
#define PIPE_SIZE 65536
#define RUNS_MAX 64 /* of bytes that arrived together */

/* Connections that fill a listener's queue of length 0: the kernel drops
 * further attempts. */
#define FILLERS 4

/* Bytes that arrived together, and when they may be passed on. */
typedef struct run {
    size_t size;
    int64_t due_ms;
} run;

/* One direction of a connection. */
typedef struct pipe_way {
    char data[PIPE_SIZE];
    size_t size;
    run runs[RUNS_MAX];
    size_t run_count;
    bool readable; /* try to read its input */
    size_t polled; /* its input's place among what is polled; 0: none */
    bool ended;    /* end of input */
    bool closed;   /* output is shut down */
} pipe_way;

typedef struct tunnel {
    bool used;
    bool asked;       /* it has sent something while replies are swallowed */
    int fds[2];       /* the end of a direction: TO_SERVER, TO_CLIENT */
    pipe_way ways[2]; /* bytes to the socket of the same index */
} tunnel;

/* The faults of one direction. */
typedef struct fault {
    int64_t delay_ms;
    int64_t rate; /* bytes per second; 0: any */
    double budget;
    bool split;
    bool swallow;
    bool cut; /* armed */
    tunnel *cut_tunnel;
    uint64_t cut_left;
    byte_end cut_end;
} fault;

struct byte_proxy {
    char server[PATH_SIZE]; /* "": at server_port */
    int server_port;
    char dir[PATH_SIZE - 16];
    char path[PATH_SIZE];
    char unix_url[PATH_SIZE + 16];
    char tcp_url[64];
    int port;

    pthread_t thread;
    int wake_fd;
    pthread_mutex_t mutex;
    bool stopping;
    bool frozen;
    int speak;        /* version of the protocol; 0: any */
    int listeners[2]; /* -1: refused */
    bool dark;
    int fillers[FILLERS];
    fault faults[2];
    int64_t turned_ms;
    uint64_t bytes[2];
    uint64_t swallowed[2];
    uint64_t connections;
    uint64_t cuts;
    tunnel *tunnels[TUNNELS_MAX]; /* allocated once, then kept */
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wake_proxy(byte_proxy *self)
{
    (void)!write(self->wake_fd, &(uint64_t){1}, sizeof(uint64_t));
}

/* ------------------------------------------------------------- connections */

static void end_tunnel(byte_proxy *self, tunnel *it, bool reset)
{
    struct linger hard = {1, 0};

    if (reset)
        setsockopt(it->fds[TO_CLIENT], SOL_SOCKET, SO_LINGER, &hard,
                   sizeof(hard));
    close(it->fds[TO_CLIENT]);
    close(it->fds[TO_SERVER]);
    it->used = false;
    for (int way = 0; way < 2; way++) {
        if (self->faults[way].cut_tunnel == it)
            self->faults[way].cut_tunnel = NULL;
    }
}

static void end_way(tunnel *it, byte_way way)
{
    it->ways[way].closed = true;
    it->ways[way].size = it->ways[way].run_count = 0;
    shutdown(it->fds[way], SHUT_WR);
}

static void break_tunnel(byte_proxy *self, tunnel *it, byte_way way,
                         byte_end end)
{
    if (end == BYTE_END_HALF)
        end_way(it, way);
    else
        end_tunnel(self, it, end == BYTE_END_RESET);
}

static tunnel *new_tunnel(byte_proxy *self)
{
    for (size_t i = 0; i < TUNNELS_MAX; i++) {
        if (self->tunnels[i] == NULL)
            self->tunnels[i] = calloc(1, sizeof(tunnel));
        if (self->tunnels[i] == NULL)
            return NULL;
        if (!self->tunnels[i]->used)
            return self->tunnels[i];
    }
    return NULL;
}

/* A local connect() succeeds at once or is under way. */
static int connect_to(const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (connect(fd, address, size) == 0 || errno == EINPROGRESS))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int connect_server(const byte_proxy *self)
{
    struct sockaddr_un at_path = {.sun_family = AF_UNIX};
    struct sockaddr_in at_port = {.sin_family = AF_INET};
    int fd;

    if (self->server_port == 0) {
        memcpy(at_path.sun_path, self->server, strlen(self->server) + 1);
        return connect_to((struct sockaddr *)&at_path, sizeof(at_path));
    }
    at_port.sin_port = htons((uint16_t)self->server_port);
    at_port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = connect_to((struct sockaddr *)&at_port, sizeof(at_port));
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

static void accept_from(byte_proxy *self, int listener)
{
    int fd, server_fd;
    tunnel *it;

    while (listener >= 0 && (fd = accept4(listener, NULL, NULL,
                                          SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        it = new_tunnel(self);
        server_fd = it == NULL ? -1 : connect_server(self);
        self->connections++;
        if (server_fd < 0) {
            close(fd);
            continue;
        }
        it->used = true;
        it->fds[TO_CLIENT] = fd;
        it->fds[TO_SERVER] = server_fd;
        for (int way = 0; way < 2; way++) {
            it->ways[way].size = it->ways[way].run_count = 0;
            it->ways[way].ended = it->ways[way].closed = false;
            it->ways[way].readable = true;
            it->ways[way].polled = 0;
        }
    }
}

/* ---------------------------------------------------------------- advancing */

static bool is_gone(ssize_t got)
{
    return got < 0 && errno != EAGAIN && errno != EINTR && errno != ENOTCONN;
}

/* A login arrives whole. */
static void choose_protocol(const byte_proxy *self, char *data, size_t size)
{
    static const char hello[] = "$5\r\nHELLO\r\n$1\r\n";
    char *at =
        self->speak == 0 ? NULL : memmem(data, size, hello, sizeof(hello) - 1);

    if (at != NULL && at + sizeof(hello) - 1 < data + size)
        at[sizeof(hello) - 1] = (char)('0' + self->speak);
}

/* Read what is for `way`; false: the connection is over. */
static bool take_bytes(byte_proxy *self, tunnel *it, byte_way way, int64_t now)
{
    const fault *wrong = &self->faults[way];
    pipe_way *to = &it->ways[way];
    ssize_t got;

    while (to->readable && !to->ended && to->size < PIPE_SIZE &&
           to->run_count < RUNS_MAX) {
        got = recv(it->fds[1 - way], to->data + to->size, PIPE_SIZE - to->size,
                   0);
        if (is_gone(got))
            return false;
        to->readable = got > 0;
        if (got < 0)
            return true;
        to->ended = got == 0;
        if (way == TO_SERVER && self->faults[TO_CLIENT].swallow)
            it->asked = true;
        if (wrong->swallow || to->closed) {
            if (way == TO_SERVER || it->asked)
                self->swallowed[way] += (uint64_t)got;
            continue;
        }
        if (way == TO_SERVER)
            choose_protocol(self, to->data + to->size, (size_t)got);
        to->size += (size_t)got;
        if (got > 0)
            to->runs[to->run_count++] =
                (run){(size_t)got, now + wrong->delay_ms};
    }
    return true;
}

/* How many bytes may be passed on now. */
static size_t allowed_size(const fault *wrong, const tunnel *it,
                           const pipe_way *from, int64_t now)
{
    size_t size = from->run_count > 0 && from->runs[0].due_ms <= now
                      ? from->runs[0].size
                      : 0;

    if (wrong->split && size > 1)
        size = 1;
    if (wrong->rate > 0 && (double)size > wrong->budget)
        size = (size_t)wrong->budget;
    if (wrong->cut_tunnel == it && size > wrong->cut_left)
        size = (size_t)wrong->cut_left;
    return size;
}

static void drop_sent(byte_proxy *self, byte_way way, pipe_way *from,
                      size_t size)
{
    fault *wrong = &self->faults[way];

    memmove(from->data, from->data + size, from->size - size);
    from->size -= size;
    from->runs[0].size -= size;
    if (from->runs[0].size == 0) {
        from->run_count--;
        memmove(from->runs, from->runs + 1, from->run_count * sizeof(run));
    }
    self->bytes[way] += size;
    wrong->budget -= (double)size;
}

/* Pass on what may be passed on; false: the connection is over. */
static bool pass_bytes(byte_proxy *self, tunnel *it, byte_way way, int64_t now)
{
    fault *wrong = &self->faults[way];
    pipe_way *from = &it->ways[way];
    size_t size;
    ssize_t put;

    if (wrong->cut && from->size > 0 && !from->closed) {
        wrong->cut = false;
        wrong->cut_tunnel = it;
    }
    while (!from->closed && (size = allowed_size(wrong, it, from, now)) > 0) {
        put = send(it->fds[way], from->data, size, MSG_NOSIGNAL);
        if (is_gone(put))
            return false;
        if (put < 0)
            break;
        drop_sent(self, way, from, (size_t)put);
        if (wrong->cut_tunnel == it)
            wrong->cut_left -= (uint64_t)put;
        if (wrong->split)
            break; /* the others get their turn, too */
    }
    if (wrong->cut_tunnel == it && wrong->cut_left == 0) {
        wrong->cut_tunnel = NULL;
        self->cuts++;
        break_tunnel(self, it, way, wrong->cut_end);
        return true;
    }
    if (from->ended && from->size == 0 && !from->closed)
        end_way(it, way);
    return true;
}

static void serve_tunnel(byte_proxy *self, tunnel *it, int64_t now)
{
    for (int way = 0; way < 2 && it->used; way++) {
        if (!take_bytes(self, it, (byte_way)way, now) ||
            !pass_bytes(self, it, (byte_way)way, now)) {
            end_tunnel(self, it, false);
            return;
        }
    }
    if (it->used && it->ways[0].closed && it->ways[1].closed)
        end_tunnel(self, it, false);
}

static void turn_all(byte_proxy *self)
{
    int64_t now = now_ms();

    for (int way = 0; way < 2; way++) {
        fault *wrong = &self->faults[way];
        double most = (double)wrong->rate / 10 + 1;

        wrong->budget +=
            (double)(wrong->rate * (now - self->turned_ms)) / 1000.0;
        if (wrong->budget > most)
            wrong->budget = most;
    }
    self->turned_ms = now;
    if (!self->dark) {
        accept_from(self, self->listeners[0]);
        accept_from(self, self->listeners[1]);
    }
    for (size_t i = 0; i < TUNNELS_MAX && !self->frozen; i++) {
        if (self->tunnels[i] != NULL && self->tunnels[i]->used)
            serve_tunnel(self, self->tunnels[i], now);
    }
}

/* ------------------------------------------------------------------ thread */

static void add_polled(struct pollfd *list, size_t *count, int fd, short events)
{
    if (fd >= 0 && events != 0)
        list[(*count)++] = (struct pollfd){fd, events, 0};
}

/* What to poll for at one connection; *soon: something is delayed. */
static void watch_tunnel(const byte_proxy *self, tunnel *it,
                         struct pollfd *list, size_t *count, bool *soon,
                         int64_t now)
{
    for (int way = 0; way < 2; way++) {
        pipe_way *to = &it->ways[way];
        bool due = allowed_size(&self->faults[way], it, to, now) > 0;

        to->polled = 0;
        if (!to->ended && to->size < PIPE_SIZE && to->run_count < RUNS_MAX) {
            to->polled = *count;
            add_polled(list, count, it->fds[1 - way], POLLIN);
        }
        if (due)
            add_polled(list, count, it->fds[way], POLLOUT);
        *soon = *soon || to->run_count > 0;
    }
}

static size_t watch_all(byte_proxy *self, struct pollfd *list, int *wait_ms)
{
    bool soon = false;
    size_t count = 0;
    int64_t now = now_ms();

    add_polled(list, &count, self->wake_fd, POLLIN);
    add_polled(list, &count, self->listeners[0], self->dark ? 0 : POLLIN);
    add_polled(list, &count, self->listeners[1], self->dark ? 0 : POLLIN);
    for (size_t i = 0; i < TUNNELS_MAX && !self->frozen; i++) {
        if (self->tunnels[i] != NULL && self->tunnels[i]->used)
            watch_tunnel(self, self->tunnels[i], list, &count, &soon, now);
    }
    *wait_ms = soon ? 1 : -1;
    return count;
}

/* What came while nothing was polled is found by the next poll(). */
static void note_readable(byte_proxy *self, const struct pollfd *list)
{
    for (size_t i = 0; i < TUNNELS_MAX; i++) {
        tunnel *it = self->tunnels[i];

        for (int way = 0; it != NULL && way < 2; way++) {
            pipe_way *to = &it->ways[way];

            to->readable = to->polled != 0 && list[to->polled].revents != 0;
        }
    }
}

static void *run_proxy(void *user)
{
    static _Thread_local struct pollfd list[3 + 4 * TUNNELS_MAX];
    byte_proxy *self = user;
    uint64_t woken;
    size_t count;
    int wait_ms;

    pthread_mutex_lock(&self->mutex);
    while (!self->stopping) {
        turn_all(self);
        count = watch_all(self, list, &wait_ms);
        pthread_mutex_unlock(&self->mutex);
        poll(list, count, wait_ms);
        (void)!read(self->wake_fd, &woken, sizeof(woken));
        pthread_mutex_lock(&self->mutex);
        note_readable(self, list);
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* ----------------------------------------------------------- start and end */

static int listen_unix(const byte_proxy *self)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, self->path, strlen(self->path) + 1);
    if (fd >= 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(fd, 128) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int listen_tcp(byte_proxy *self)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)self->port)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (fd >= 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(fd, 128) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        self->port = ntohs(address.sin_port);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool make_names(byte_proxy *self, const char *server_socket)
{
    const char *parent = getenv("TMPDIR");
    int size = snprintf(self->dir, sizeof(self->dir), "%s/hf-proxy-XXXXXX",
                        parent == NULL ? "/tmp" : parent);

    if (strlen(server_socket) >= sizeof(self->server) ||
        size >= (int)sizeof(self->dir) || mkdtemp(self->dir) == NULL)
        return false;
    memcpy(self->server, server_socket, strlen(server_socket) + 1);
    snprintf(self->path, sizeof(self->path), "%s/socket", self->dir);
    snprintf(self->unix_url, sizeof(self->unix_url), "redis+unix://%s",
             self->path);
    return true;
}

static byte_proxy *start_proxy(const char *server_socket, int server_port)
{
    byte_proxy *self = calloc(1, sizeof(*self));

    if (self == NULL)
        return NULL;
    self->server_port = server_port;
    pthread_mutex_init(&self->mutex, NULL);
    self->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    self->turned_ms = now_ms();
    if (make_names(self, server_socket)) {
        self->listeners[0] = listen_unix(self);
        self->listeners[1] = listen_tcp(self);
        snprintf(self->tcp_url, sizeof(self->tcp_url), "redis://127.0.0.1:%d",
                 self->port);
        if (self->listeners[0] >= 0 && self->listeners[1] >= 0 &&
            pthread_create(&self->thread, NULL, run_proxy, self) == 0)
            return self;
    }
    fprintf(stderr, "cannot start a proxy for %s:%d\n", server_socket,
            server_port);
    free(self);
    return NULL;
}

byte_proxy *byte_proxy_start(const char *server_socket)
{
    return start_proxy(server_socket, 0);
}

byte_proxy *byte_proxy_start_tcp(int server_port)
{
    return start_proxy("", server_port);
}

static void fill_queue(byte_proxy *self)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)self->port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen(self->listeners[1], 0);
    for (int i = 0; i < FILLERS; i++)
        self->fillers[i] =
            connect_to((struct sockaddr *)&address, sizeof(address));
}

static void empty_queue(byte_proxy *self)
{
    for (int i = 0; self->dark && i < FILLERS; i++) {
        if (self->fillers[i] >= 0)
            close(self->fillers[i]);
    }
    if (self->dark)
        listen(self->listeners[1], 128);
    self->dark = false;
}

static void close_listeners(byte_proxy *self)
{
    for (int i = 0; i < 2; i++) {
        if (self->listeners[i] >= 0)
            close(self->listeners[i]);
        self->listeners[i] = -1;
    }
    unlink(self->path);
}

void byte_proxy_stop(byte_proxy *self)
{
    if (self == NULL)
        return;
    pthread_mutex_lock(&self->mutex);
    self->stopping = true;
    pthread_mutex_unlock(&self->mutex);
    wake_proxy(self);
    pthread_join(self->thread, NULL);
    for (size_t i = 0; i < TUNNELS_MAX; i++) {
        if (self->tunnels[i] != NULL && self->tunnels[i]->used)
            end_tunnel(self, self->tunnels[i], false);
        free(self->tunnels[i]);
    }
    empty_queue(self);
    close_listeners(self);
    rmdir(self->dir);
    close(self->wake_fd);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

const char *byte_proxy_unix_url(const byte_proxy *self)
{
    return self->unix_url;
}

const char *byte_proxy_tcp_url(const byte_proxy *self)
{
    return self->tcp_url;
}

int byte_proxy_port(const byte_proxy *self)
{
    return self->port;
}

/* ------------------------------------------------------------------ faults */

static void unlock_and_wake(byte_proxy *self)
{
    pthread_mutex_unlock(&self->mutex);
    wake_proxy(self);
}

/* Delayed bytes are passed on now. */
static void end_delays(tunnel *it)
{
    for (int way = 0; way < 2; way++) {
        for (size_t i = 0; i < it->ways[way].run_count; i++)
            it->ways[way].runs[i].due_ms = 0;
    }
}

void byte_proxy_heal(byte_proxy *self)
{
    pthread_mutex_lock(&self->mutex);
    empty_queue(self);
    memset(self->faults, 0, sizeof(self->faults));
    self->frozen = false;
    for (size_t i = 0; i < TUNNELS_MAX; i++) {
        if (self->tunnels[i] != NULL && self->tunnels[i]->used)
            end_delays(self->tunnels[i]);
    }
    unlock_and_wake(self);
}

void byte_proxy_delay(byte_proxy *self, byte_way way, int64_t delay_ms)
{
    pthread_mutex_lock(&self->mutex);
    self->faults[way].delay_ms = delay_ms;
    unlock_and_wake(self);
}

void byte_proxy_split(byte_proxy *self, byte_way way)
{
    pthread_mutex_lock(&self->mutex);
    self->faults[way].split = true;
    unlock_and_wake(self);
}

void byte_proxy_throttle(byte_proxy *self, byte_way way, int64_t bytes)
{
    pthread_mutex_lock(&self->mutex);
    self->faults[way].rate = bytes;
    self->faults[way].budget = 0;
    unlock_and_wake(self);
}

void byte_proxy_freeze(byte_proxy *self)
{
    pthread_mutex_lock(&self->mutex);
    self->frozen = true;
    unlock_and_wake(self);
}

void byte_proxy_darken(byte_proxy *self)
{
    pthread_mutex_lock(&self->mutex);
    self->frozen = true;
    if (!self->dark)
        fill_queue(self);
    self->dark = true;
    unlock_and_wake(self);
}

void byte_proxy_swallow(byte_proxy *self, byte_way way)
{
    pthread_mutex_lock(&self->mutex);
    self->faults[way].swallow = true;
    for (size_t i = 0; i < TUNNELS_MAX; i++) {
        if (self->tunnels[i] != NULL)
            self->tunnels[i]->asked = false;
    }
    unlock_and_wake(self);
}

void byte_proxy_cut(byte_proxy *self, byte_way way, uint64_t size, byte_end end)
{
    fault *wrong = &self->faults[way];

    pthread_mutex_lock(&self->mutex);
    wrong->cut = true;
    wrong->cut_tunnel = NULL;
    wrong->cut_left = size;
    wrong->cut_end = end;
    unlock_and_wake(self);
}

void byte_proxy_break(byte_proxy *self, byte_end end)
{
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < TUNNELS_MAX; i++) {
        if (self->tunnels[i] != NULL && self->tunnels[i]->used)
            break_tunnel(self, self->tunnels[i], TO_CLIENT, end);
    }
    unlock_and_wake(self);
}

void byte_proxy_speak(byte_proxy *self, int version)
{
    pthread_mutex_lock(&self->mutex);
    self->speak = version;
    unlock_and_wake(self);
}

void byte_proxy_refuse(byte_proxy *self, bool refuse)
{
    pthread_mutex_lock(&self->mutex);
    if (refuse) {
        close_listeners(self);
    } else if (self->listeners[0] < 0) {
        self->listeners[0] = listen_unix(self);
        self->listeners[1] = listen_tcp(self);
    }
    unlock_and_wake(self);
}

/* ----------------------------------------------------------------- figures */

static uint64_t read_figure(byte_proxy *self, const uint64_t *figure)
{
    uint64_t value;

    pthread_mutex_lock(&self->mutex);
    value = *figure;
    pthread_mutex_unlock(&self->mutex);
    return value;
}

uint64_t byte_proxy_bytes(byte_proxy *self, byte_way way)
{
    return read_figure(self, &self->bytes[way]);
}

uint64_t byte_proxy_connections(byte_proxy *self)
{
    return read_figure(self, &self->connections);
}

uint64_t byte_proxy_cuts(byte_proxy *self)
{
    return read_figure(self, &self->cuts);
}

uint64_t byte_proxy_swallowed(byte_proxy *self, byte_way way)
{
    return read_figure(self, &self->swallowed[way]);
}
