/* SPDX-License-Identifier: Apache-2.0 */
/* listener.c - see listener.h. */
#include "serve/conn/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/conn/listen_address.h"
#include "serve/log.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/url.h"

/* Connections accepted in one turn. */
#define ACCEPT_MAX 256

/* Without descriptors or memory none is accepted for so long, ms. */
#define PAUSE_MS 100

/* When a silent client is asked whether it is there, s, as by Redis; and how
 * long data may be unacknowledged, ms. */
#define KEEPALIVE_IDLE_S 300
#define KEEPALIVE_INTERVAL_S 100
#define KEEPALIVE_COUNT 3
#define UNACKNOWLEDGED_MS 600000

/* Larger than any group entry in use. */
#define GROUP_SIZE 4096

/* ---------------------------------------------------------------- accepting */

static void set_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                   {SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
                   {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
                   {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT},
                   {IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS}};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        (void)setsockopt(fd, options[i].level, options[i].name,
                         &options[i].value, sizeof(options[i].value));
}

static void refuse_client(hf__listener *listener, int fd)
{
    static const char text[] = "-ERR max number of clients reached\r\n";

    if (!listener->secure)
        (void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
    listener->server->stats.connections_refused++;
}

static void resume_listener(hf__tick *tick)
{
    (void)hf__listener_start(tick->user, NULL);
}

/* Clients wait in the backlog in the meantime. */
static void pause_accepting(hf__listener *listener, int number)
{
    hf__poller *poller = hf__loop_poller(listener->server->loop);

    hf__log(listener->server, "cannot accept a connection on %s: %s",
            listener->text, strerror(number));
    hf__poll_stop(poller, &listener->poll);
    hf__tick_set(poller, &listener->tick, hf__clock_boot_ms() + PAUSE_MS);
}

static void accept_one(hf__listener *listener, int fd)
{
    hf_server *server = listener->server;

    if (server->conn_count >= (size_t)server->options.max_clients) {
        refuse_client(listener, fd);
        return;
    }
    if (listener->tcp)
        set_options(fd);
    if (!hf__conn_open(server, fd, listener->secure ? server->tls : NULL))
        server->stats.connections_refused++;
}

static void accept_some(hf__poll *poll, int events)
{
    hf__listener *listener = poll->user;

    (void)events;
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = accept4(poll->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            accept_one(listener, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
            errno == ENOBUFS)
            pause_accepting(listener, errno);
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

/* ---------------------------------------------------------------- addresses */

/* A listener for a socket that listens. */
static hf__listener *add_listener(hf_server *server, int fd, bool secure)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    hf__listener *listener;

    listener = &server->listeners[server->listener_count++];
    *listener = (hf__listener){.server = server,
                               .poll = {.ready = accept_some, .fd = fd},
                               .tick = {.ring = resume_listener},
                               .open = true,
                               .secure = secure};
    listener->poll.user = listener->tick.user = listener;
    (void)getsockname(fd, (struct sockaddr *)&address, &size);
    listener->tcp = address.ss_family != AF_UNIX;
    listener->exposed =
        hf__address_is_exposed((const struct sockaddr *)&address);
    memcpy(listener->text, "tls:", 5);
    hf__address_text((const struct sockaddr *)&address, size,
                     listener->text + (secure ? 4 : 0),
                     sizeof(listener->text) - 4);
    return listener;
}

static hf_status read_group(const char *name, gid_t *group, hf_error *err)
{
    struct group entry, *found = NULL;
    char memory[GROUP_SIZE];

    if (getgrnam_r(name, &entry, memory, sizeof(memory), &found) != 0 ||
        found == NULL)
        return hf__fail(err, HF_INVALID, "no such group: %s", name);
    *group = found->gr_gid;
    return HF_OK;
}

static hf_status read_mode(const char *text, mode_t *mode, hf_error *err)
{
    char *end;
    unsigned long value = strtoul(text, &end, 8);

    if (*text == '\0' || *end != '\0' || value > 0777 || (value & 0600) != 0600)
        return hf__fail(err, HF_INVALID, "mode: \"%s\" is not 0600 to 0777",
                        text);
    *mode = (mode_t)value;
    return HF_OK;
}

static hf_status read_unix(hf__url *url, hf__unix_address *address,
                           hf_error *err)
{
    static const char *const known[] = {"mode", "group", NULL};
    const char *mode = hf__url_param_get(url, "mode");
    const char *group = hf__url_param_get(url, "group");
    hf_status status = hf__url_check_params(url, known, err);

    *address = (hf__unix_address){url->path, 0600, (gid_t)-1};
    if (status == HF_OK && mode != NULL)
        status = read_mode(mode, &address->mode, err);
    if (status == HF_OK && group != NULL)
        status = read_group(group, &address->group, err);
    return status;
}

static hf_status open_unix(hf_server *server, const char *text, hf_error *err)
{
    char path[HF__LISTENER_TEXT_SIZE];
    hf__unix_address address;
    hf__listener *listener;
    ino_t number = 0;
    hf__url url;
    hf_status status = hf__url_parse(text, &url, err);
    int fd = -1;

    if (status != HF_OK)
        return status;
    status = read_unix(&url, &address, err);
    if (status == HF_OK && address.path[0] == '\0') {
        status = hf__address_default(server, path, sizeof(path), err);
        address.path = path;
    }
    if (status == HF_OK)
        status = hf__address_listen_unix(&address, &fd, &number, err);
    if (status == HF_OK) {
        listener = add_listener(server, fd, false);
        listener->number = number;
        (void)snprintf(listener->path, sizeof(listener->path), "%s",
                       address.path);
        (void)snprintf(listener->text, sizeof(listener->text), "unix:%s",
                       address.path);
    }
    hf__url_done(&url);
    return status;
}

/* A socket that was inherited. */
static hf_status open_fd(hf_server *server, const char *text, bool secure,
                         hf_error *err)
{
    int64_t fd;
    int on = 0;
    socklen_t size = sizeof(on);
    hf_status status = hf__parse_int(text, 0, 65535, "fd", &fd, err);

    if (status != HF_OK)
        return status;
    if (getsockopt((int)fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &size) != 0 ||
        on == 0)
        return hf__fail(err, HF_INVALID,
                        "descriptor %d is not a socket that listens", (int)fd);
    if (fcntl((int)fd, F_SETFL, O_NONBLOCK) != 0 ||
        fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0)
        return hf__fail_errno(err, HF_SYSTEM, errno, "descriptor %d", (int)fd);
    (void)add_listener(server, (int)fd, secure);
    return HF_OK;
}

static uint16_t port_of(const hf__listener *listener)
{
    return (uint16_t)strtol(strrchr(listener->text, ':') + 1, NULL, 10);
}

/* All addresses of a host, on one port. A kind of address that the machine does
 * not have is skipped if there is another. */
static hf_status open_all(hf_server *server, struct addrinfo *found,
                          bool secure, hf_error *err)
{
    size_t first = server->listener_count;
    hf_status status = HF_OK;

    for (struct addrinfo *at = found; at != NULL; at = at->ai_next) {
        struct sockaddr_in *address = (void *)at->ai_addr;
        int fd;

        if (server->listener_count == HF__LISTENERS_MAX)
            return hf__fail(err, HF_INVALID, "more than %d sockets",
                            HF__LISTENERS_MAX);
        /* IPv6 has it at the same place. */
        if (address->sin_port == 0 && server->listener_count > first)
            address->sin_port = htons(port_of(&server->listeners[first]));
        status = hf__address_listen_tcp(at->ai_addr, at->ai_addrlen, &fd, err);
        if (status == HF_OK)
            (void)add_listener(server, fd, secure);
        else if (err == NULL || (err->sys_errno != EADDRNOTAVAIL &&
                                 err->sys_errno != EAFNOSUPPORT))
            return status;
    }
    return server->listener_count > first ? HF_OK : status;
}

static hf_status open_tcp(hf_server *server, const char *text, bool secure,
                          hf_error *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(text, ':');
    char host[HF__LISTENER_TEXT_SIZE];
    size_t size = colon != NULL ? (size_t)(colon - text) : 0;
    hf_error error = HF_ERROR_INIT;
    hf_status status;
    int rc;

    if (size == 0 || colon[1] == '\0' || size >= sizeof(host))
        return hf__fail(err, HF_INVALID,
                        "listen address \"%s\" must be unix:PATH or HOST:PORT",
                        text);
    memcpy(host, text, size);
    host[size] = '\0';
    if (host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = '\0';
        memmove(host, host + 1, size - 1);
    }
    rc = getaddrinfo(host, colon + 1, &hints, &found);
    if (rc != 0)
        return hf__fail(err, HF_INVALID, "listen address \"%s\": %s", text,
                        gai_strerror(rc));
    status = open_all(server, found, secure, &error);
    freeaddrinfo(found);
    return status == HF_OK ? HF_OK : hf__fail_copy(err, &error);
}

/* ------------------------------------------------------------------- public */

hf_status hf__listener_open(hf_server *server, const char *address,
                            hf_error *err)
{
    bool secure = strncmp(address, "tls:", 4) == 0;

    if (server->listener_count == HF__LISTENERS_MAX)
        return hf__fail(err, HF_INVALID, "more than %d sockets",
                        HF__LISTENERS_MAX);
    if (secure && server->tls == NULL)
        return hf__fail(err, HF_INVALID,
                        "%s: TLS needs a certificate (--tls-cert)", address);
    if (strncmp(address, "unix:", 5) == 0)
        return open_unix(server, address, err);
    if (secure)
        address += 4;
    if (strncmp(address, "fd:", 3) == 0)
        return open_fd(server, address + 3, secure, err);
    return open_tcp(server, address, secure, err);
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
    hf__tick_stop(&listener->tick);
    hf__poll_stop(hf__loop_poller(listener->server->loop), &listener->poll);
    if (listener->path[0] != '\0')
        hf__address_remove(listener->path, listener->number);
    close(listener->poll.fd);
}
