/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_server.c - accepting connections and running the test's session on each.
 *
 * One thread accepts, and each connection has its own. Locks: `mutex` guards
 * the list of connections, which only grows until stop.
 */
#include "support/fake_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS_MAX 64
#define PATH_SIZE 100

typedef struct fake_connection {
    fake_server *server;
    unsigned number;
    int fd;
    pthread_t thread;
} fake_connection;

struct fake_server {
    fake_session session;
    void *user;
    int fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    fake_connection connections[CONNECTIONS_MAX];
    unsigned count;
    char dir[PATH_SIZE - 8];
    char path[PATH_SIZE];
    char url[PATH_SIZE + 16];
    int port; /* 0: on the unix socket */
};

static void *serve_connection(void *user)
{
    fake_connection *self = user;

    self->server->session(self->fd, self->number, self->server->user);
    shutdown(self->fd, SHUT_RDWR);
    return NULL;
}

static void *accept_all(void *user)
{
    fake_server *server = user;
    fake_connection *next;
    int fd, on = 1;

    while ((fd = accept(server->fd, NULL, NULL)) >= 0) {
        if (server->port != 0) /* no wait for an ACK between two replies */
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        pthread_mutex_lock(&server->mutex);
        if (server->count == CONNECTIONS_MAX) {
            close(fd);
        } else {
            next = &server->connections[server->count];
            next->server = server;
            next->number = server->count++;
            next->fd = fd;
            pthread_create(&next->thread, NULL, serve_connection, next);
        }
        pthread_mutex_unlock(&server->mutex);
    }
    return NULL;
}

static bool listen_at(fake_server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    const char *parent = getenv("TMPDIR");
    int size = snprintf(server->dir, sizeof(server->dir), "%s/hf-fake-XXXXXX",
                        parent == NULL ? "/tmp" : parent);

    if (size >= (int)sizeof(server->dir) || mkdtemp(server->dir) == NULL)
        return false;
    snprintf(server->path, sizeof(server->path), "%s/socket", server->dir);
    snprintf(server->url, sizeof(server->url), "redis+unix://%s", server->path);
    memcpy(address.sun_path, server->path, strlen(server->path) + 1);
    server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return server->fd >= 0 &&
           bind(server->fd, (struct sockaddr *)&address, sizeof(address)) ==
               0 &&
           listen(server->fd, CONNECTIONS_MAX) == 0;
}

static bool listen_tcp(fake_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->fd < 0 ||
        bind(server->fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &size) != 0 ||
        listen(server->fd, CONNECTIONS_MAX) != 0)
        return false;
    server->port = ntohs(address.sin_port);
    snprintf(server->url, sizeof(server->url), "redis://127.0.0.1:%d",
             server->port);
    return true;
}

static fake_server *start_server(fake_session session, void *user,
                                 bool (*listen_fn)(fake_server *server))
{
    fake_server *server = calloc(1, sizeof(*server));

    if (server == NULL)
        return NULL;
    server->session = session;
    server->user = user;
    pthread_mutex_init(&server->mutex, NULL);
    if (listen_fn(server) &&
        pthread_create(&server->thread, NULL, accept_all, server) == 0)
        return server;
    free(server);
    return NULL;
}

fake_server *fake_server_start(fake_session session, void *user)
{
    return start_server(session, user, listen_at);
}

fake_server *fake_server_start_tcp(fake_session session, void *user)
{
    return start_server(session, user, listen_tcp);
}

int fake_server_port(const fake_server *server)
{
    return server->port;
}

void fake_server_stop(fake_server *server)
{
    unsigned at;

    shutdown(server->fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->fd);
    for (at = 0; at < server->count; at++)
        shutdown(server->connections[at].fd, SHUT_RDWR);
    for (at = 0; at < server->count; at++) {
        pthread_join(server->connections[at].thread, NULL);
        close(server->connections[at].fd);
    }
    if (server->port == 0) {
        unlink(server->path);
        rmdir(server->dir);
    }
    pthread_mutex_destroy(&server->mutex);
    free(server);
}

const char *fake_server_url(const fake_server *server)
{
    return server->url;
}

unsigned fake_server_count(const fake_server *server)
{
    unsigned count;

    pthread_mutex_lock((pthread_mutex_t *)&server->mutex);
    count = server->count;
    pthread_mutex_unlock((pthread_mutex_t *)&server->mutex);
    return count;
}

/* A number after `mark`, up to the end of the line; negative: closed. */
static long read_header(int fd, char mark)
{
    char text[32];
    size_t used = 0;

    while (used + 1 < sizeof(text) && read(fd, text + used, 1) == 1) {
        if (text[used++] == '\n') {
            text[used] = '\0';
            return text[0] == mark ? strtol(text + 1, NULL, 10) : -1;
        }
    }
    return -1;
}

bool fake_server_read(int fd, char *text, size_t size)
{
    long words = read_header(fd, '*');
    size_t used = 0;
    long left;
    char byte;

    text[0] = '\0';
    while (words-- > 0) {
        left = read_header(fd, '$');
        if (left < 0)
            return false;
        for (left += 2; left > 0; left--) {
            if (read(fd, &byte, 1) != 1)
                return false;
            if (left > 2 && used + 2 < size)
                text[used++] = byte;
        }
        if (words > 0 && used + 2 < size)
            text[used++] = ' ';
        text[used] = '\0';
    }
    return used > 0;
}

bool fake_server_say(int fd, const char *text)
{
    size_t size = strlen(text);

    return send(fd, text, size, MSG_NOSIGNAL) == (ssize_t)size;
}

bool fake_server_subscribe(int fd, const char *text, bool resp3,
                           const char *message)
{
    const char *channel = text + strlen("SUBSCRIBE ");
    char first = resp3 ? '>' : '*';
    char answer[512];
    int size = snprintf(answer, sizeof(answer),
                        "%c3\r\n$9\r\nsubscribe\r\n$%zu\r\n%s\r\n:1\r\n", first,
                        strlen(channel), channel);

    if (message != NULL)
        (void)snprintf(answer + size, sizeof(answer) - (size_t)size,
                       "%c3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n%s"
                       "\r\n",
                       first, strlen(channel), channel, strlen(message),
                       message);
    return fake_server_say(fd, answer);
}

bool fake_server_login(int fd, const char *version)
{
    char text[200];
    char answer[200];
    int at;

    if (!fake_server_read(fd, text, sizeof(text)) ||
        strncmp(text, "HELLO ", 6) != 0)
        return false;
    snprintf(answer, sizeof(answer),
             "*6\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n"
             "$%zu\r\n%s\r\n$2\r\nid\r\n:7\r\n",
             strlen(version), version);
    if (!fake_server_say(fd, answer))
        return false;
    for (at = 0; at < 3; at++) { /* SETNAME, and SETINFO twice */
        if (!fake_server_read(fd, text, sizeof(text)) ||
            strncmp(text, "CLIENT SET", 10) != 0 ||
            !fake_server_say(fd, "+OK\r\n"))
            return false;
    }
    return true;
}

void fake_server_drain(int fd)
{
    char bytes[4096];

    while (read(fd, bytes, sizeof(bytes)) > 0)
        continue;
}
