/* SPDX-License-Identifier: Apache-2.0 */
/* listener.c - see listener.h. */
#include "serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/state.h"
#include "util/error.h"

#define BACKLOG 511

/* Connections accepted in one turn. */
#define ACCEPT_MAX 256

/* ---------------------------------------------------------------- accepting */

static void set_options(int fd, bool tcp)
{
    int on = 1;

    if (!tcp)
        return;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

static void refuse(hf_server *server, int fd)
{
    static const char text[] = "-ERR max number of clients reached\r\n";

    (void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
    server->stats.connections_refused++;
}

static void accept_some(hf__poll *poll, int events)
{
    hf__listener *listener = poll->user;
    hf_server *server = listener->server;

    (void)events;
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = accept4(poll->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            return;
        if (server->conn_count >= (size_t)server->options.max_clients) {
            refuse(server, fd);
            continue;
        }
        set_options(fd, listener->path[0] == '\0');
        if (!hf__conn_open(server, fd))
            server->stats.connections_refused++;
    }
}

/* ---------------------------------------------------------------- addresses */

static hf_status fail(hf_error *err, int fd, const char *what,
                      const char *address)
{
    int number = errno;

    if (fd >= 0)
        close(fd);
    return hf__fail_errno(err, HF_SYSTEM, number, "%s %s", what, address);
}

/* Does a process listen there? */
static bool is_served(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool served = fd >= 0 && connect(fd, (const struct sockaddr *)address,
                                     sizeof(*address)) == 0;

    if (fd >= 0)
        close(fd);
    return served;
}

static hf_status open_unix(hf__listener *listener, const char *path,
                           hf_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat info;
    int fd;

    if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path))
        return hf__fail(err, HF_INVALID,
                        "unix:%s: the path must have 1 to %zu bytes", path,
                        sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, strlen(path));
    if (lstat(path, &info) == 0) {
        if (!S_ISSOCK(info.st_mode))
            return hf__fail(err, HF_SYSTEM, "unix:%s exists and is no socket",
                            path);
        if (is_served(&address))
            return hf__fail(err, HF_SYSTEM,
                            "unix:%s: another process listens there", path);
        (void)unlink(path);
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, BACKLOG) != 0)
        return fail(err, fd, "cannot listen on unix socket", path);
    listener->poll.fd = fd;
    (void)snprintf(listener->path, sizeof(listener->path), "%s", path);
    (void)snprintf(listener->text, sizeof(listener->text), "unix:%s", path);
    return HF_OK;
}

/* With the port that the kernel chose. */
static void describe(hf__listener *listener)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getsockname(listener->poll.fd, (struct sockaddr *)&address, &size) !=
            0 ||
        getnameinfo((const struct sockaddr *)&address, size, host, sizeof(host),
                    port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    (void)snprintf(listener->text, sizeof(listener->text),
                   address.ss_family == AF_INET6 ? "[%.60s]:%.10s"
                                                 : "%.60s:%.10s",
                   host, port);
}

static hf_status bind_tcp(hf__listener *listener, const struct addrinfo *info,
                          const char *address, hf_error *err)
{
    int on = 1;
    int fd =
        socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && info->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, info->ai_addr, info->ai_addrlen) != 0 ||
        listen(fd, BACKLOG) != 0)
        return fail(err, fd, "cannot listen on", address);
    listener->poll.fd = fd;
    describe(listener);
    return HF_OK;
}

static hf_status open_tcp(hf__listener *listener, const char *address,
                          hf_error *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(address, ':');
    char host[HF__LISTENER_TEXT_SIZE];
    size_t size = colon != NULL ? (size_t)(colon - address) : 0;
    hf_status status;
    int rc;

    if (size == 0 || colon[1] == '\0' || size >= sizeof(host))
        return hf__fail(err, HF_INVALID,
                        "listen address \"%s\" must be unix:PATH or HOST:PORT",
                        address);
    memcpy(host, address, size);
    host[size] = '\0';
    if (host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = '\0';
        memmove(host, host + 1, size - 1);
    }
    rc = getaddrinfo(host, colon + 1, &hints, &found);
    if (rc != 0)
        return hf__fail(err, HF_INVALID, "listen address \"%s\": %s", address,
                        gai_strerror(rc));
    status = bind_tcp(listener, found, address, err);
    freeaddrinfo(found);
    return status;
}

/* ------------------------------------------------------------------- public */

hf_status hf__listener_open(hf__listener *listener, hf_server *server,
                            const char *address, hf_error *err)
{
    hf_status status;

    *listener = (hf__listener){.server = server,
                               .poll = {.ready = accept_some, .fd = -1}};
    listener->poll.user = listener;
    status = strncmp(address, "unix:", 5) == 0
                 ? open_unix(listener, address + 5, err)
                 : open_tcp(listener, address, err);
    listener->open = status == HF_OK;
    return status;
}

hf_status hf__listener_start(hf__listener *listener, hf_error *err)
{
    int rc = hf__poll_watch(hf__loop_poller(listener->server->loop),
                            &listener->poll, HF__POLL_IN);

    return rc == 0 ? HF_OK
                   : hf__fail_errno(err, HF_SYSTEM, rc, "cannot watch %s",
                                    listener->text);
}

void hf__listener_close(hf__listener *listener)
{
    if (!listener->open)
        return;
    listener->open = false;
    hf__poll_stop(hf__loop_poller(listener->server->loop), &listener->poll);
    close(listener->poll.fd);
    if (listener->path[0] != '\0')
        (void)unlink(listener->path);
}
