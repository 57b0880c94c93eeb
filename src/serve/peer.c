/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - see peer.h. */
#include "serve/peer.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

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
