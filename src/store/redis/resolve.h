/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.h - the network addresses of one server, kept fresh. */
#ifndef HF__STORE_REDIS_RESOLVE_H
#define HF__STORE_REDIS_RESOLVE_H

#include <sys/socket.h>

#include "holdfast.h"
#include "store/redis/address.h"

/* A name with more addresses than this is tried on its first ones. */
#define HF__RESOLVED_MAX 8

typedef struct hf__resolved {
    struct sockaddr_storage items[HF__RESOLVED_MAX];
    socklen_t sizes[HF__RESOLVED_MAX];
    size_t count;
} hf__resolved;

typedef struct hf__resolver hf__resolver;

/* Ask for the addresses for the first time, on this thread, as long as it
 * takes. */
hf_status hf__resolver_new(const hf__redis_address *address,
                           hf__resolver **resolver, hf_error *err);
void hf__resolver_free(hf__resolver *resolver); /* NULL is allowed */

/* Copy what is known. Never waits for DNS. */
void hf__resolver_get(hf__resolver *resolver, hf__resolved *resolved);

/* The addresses may be out of date, as a connection failed: ask again on a
 * thread of its own, once a second at most. Never blocks, may do nothing. */
void hf__resolver_refresh(hf__resolver *resolver);

#endif
