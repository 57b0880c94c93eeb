/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - see peer.h. */
#include "serve/conn/peer.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static uid_t user_of(const hf__conn *conn)
{
    struct ucred user = {.uid = (uid_t)-1};
    socklen_t size = sizeof(user);

    (void)getsockopt(conn->poll.fd, SOL_SOCKET, SO_PEERCRED, &user, &size);
    return user.uid;
}

void hf__peer_key_of(const hf__conn *conn, hf__peer_key *key)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    const struct sockaddr_in *four = (const void *)&address;
    const struct sockaddr_in6 *six = (const void *)&address;
    socklen_t size = sizeof(address);
    uid_t user;

    *key = (hf__peer_key){{0}};
    (void)getpeername(conn->poll.fd, (struct sockaddr *)&address, &size);
    if (address.ss_family == AF_INET6 &&
        !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        memcpy(key->bytes, &six->sin6_addr, sizeof(key->bytes) / 2);
        return;
    }
    key->bytes[8] = (unsigned char)(address.ss_family == AF_UNIX ? 1 : 2);
    user = user_of(conn);
    if (address.ss_family == AF_UNIX)
        memcpy(key->bytes + 12, &user, sizeof(user));
    else if (address.ss_family == AF_INET)
        memcpy(key->bytes + 12, &four->sin_addr, sizeof(four->sin_addr));
    else
        memcpy(key->bytes + 12, six->sin6_addr.s6_addr + 12, 4);
}

const char *hf__peer_address(const hf__conn *conn, bool own,
                             char text[HF__PEER_SIZE])
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char host[INET6_ADDRSTRLEN] = "?";
    const void *from = &address;
    unsigned port = 0;

    if ((own ? getsockname(conn->poll.fd, (struct sockaddr *)&address, &size)
             : getpeername(conn->poll.fd, (struct sockaddr *)&address,
                           &size)) != 0)
        address.ss_family = AF_UNSPEC;
    /* The other side of a unix socket has no name: ours says where it is. */
    if (address.ss_family == AF_UNIX && !own)
        return hf__peer_address(conn, true, text);
    if (address.ss_family == AF_UNIX) {
        (void)snprintf(text, HF__PEER_SIZE, "%.*s:0",
                       (int)(size - offsetof(struct sockaddr_un, sun_path)),
                       ((const struct sockaddr_un *)from)->sun_path);
    } else if (address.ss_family == AF_INET) {
        const struct sockaddr_in *in = from;

        port = ntohs(in->sin_port);
        (void)inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
        (void)snprintf(text, HF__PEER_SIZE, "%s:%u", host, port);
    } else {
        const struct sockaddr_in6 *in = from;

        if (address.ss_family == AF_INET6) {
            port = ntohs(in->sin6_port);
            (void)inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
        }
        (void)snprintf(text, HF__PEER_SIZE, "[%s]:%u", host, port);
    }
    return text;
}
