/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - see listen.h. */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"

#define WHAT "serve --http"

/* Longest host name, and its NUL. */
#define HOST_SIZE 256

/* Divide "[::1]:80", "host:80" or "80"; false: it is none of these. */
static bool divide_address(const char *address, char host[HOST_SIZE],
                           const char **port)
{
    const char *colon = strrchr(address, ':');
    size_t size = colon == NULL ? 0 : (size_t)(colon - address);

    *port = colon == NULL ? address : colon + 1;
    if (**port == '\0' || strlen(*port) > 5 ||
        (*port)[strspn(*port, "0123456789")] != '\0')
        return false;
    if (colon == NULL) {
        snprintf(host, HOST_SIZE, "127.0.0.1");
        return true;
    }
    if (size > 2 && address[0] == '[' && address[size - 1] == ']') {
        address++;
        size -= 2;
    } else if (memchr(address, ':', size) != NULL) {
        return false;
    }
    if (size == 0 || size >= HOST_SIZE)
        return false;
    memcpy(host, address, size);
    host[size] = '\0';
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;

    if (address->sa_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static void print_url(struct http_listener *listener)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof(bound);
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";

    getsockname(listener->fd, (struct sockaddr *)&bound, &size);
    getnameinfo((struct sockaddr *)&bound, size, host, sizeof(host), port,
                sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(listener->url, sizeof(listener->url),
             bound.ss_family == AF_INET6 ? "http://[%.40s]:%.5s"
                                         : "http://%.40s:%.5s",
             host, port);
}

static bool open_socket(const struct addrinfo *found,
                        struct http_listener *listener)
{
    int on = 1;

    listener->fd = socket(found->ai_family,
                          found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0)
        return false;
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (found->ai_family == AF_INET6)
        setsockopt(listener->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(listener->fd, found->ai_addr, found->ai_addrlen) == 0 &&
        listen(listener->fd, SOMAXCONN) == 0) {
        listener->loopback = is_loopback(found->ai_addr);
        print_url(listener);
        return true;
    }
    close(listener->fd);
    return false;
}

int http_listen(const char *address, struct http_listener *listener)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE};
    struct addrinfo *found;
    char host[HOST_SIZE];
    const char *port;
    bool listens;
    int failed;

    if (!divide_address(address, host, &port)) {
        complain(WHAT, "not HOST:PORT: \"%s\"", address);
        return EXIT_USAGE;
    }
    failed = getaddrinfo(host, port, &hints, &found);
    if (failed != 0) {
        complain(WHAT, "cannot resolve host \"%s\": %s", host,
                 gai_strerror(failed));
        return EXIT_USAGE;
    }
    listens = open_socket(found, listener);
    freeaddrinfo(found);
    if (listens)
        return EXIT_YES;
    complain(WHAT, "cannot listen at %s: %s", address, strerror(errno));
    return EXIT_SYSTEM;
}
