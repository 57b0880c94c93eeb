/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - a server's current addresses. One interface for DNS (here) and
 * sentinels; connections see only addresses.
 */
#ifndef HF__STORE_REDIS_RESOLVE_H
#define HF__STORE_REDIS_RESOLVE_H

#include <sys/socket.h>

#include "holdfast/base.h"
#include "store/redis/wire/address.h"

/* Of a name with more addresses the first ones are used. */
#define HF__RESOLVED_MAX 8

typedef struct hf__resolved {
    struct sockaddr_storage items[HF__RESOLVED_MAX];
    socklen_t sizes[HF__RESOLVED_MAX];
    size_t count;              /* 0: not known yet */
    char host[HF__HOST_SIZE];  /* expected in the certificate; "": a path */
    char text[HF__WHERE_SIZE]; /* "host:port" or a path, for people */
} hf__resolved;

typedef struct hf__resolver hf__resolver;

typedef struct hf__resolver_ops {
    /* Copy the known addresses. Never blocks. Any thread. */
    void (*get)(hf__resolver *resolver, hf__resolved *resolved);
    /* A connection failed or reached the wrong server, so the addresses may be
     * outdated: look up again in the background. Called every time that
     * happens. Never blocks, may do nothing. Any thread. */
    void (*refresh)(hf__resolver *resolver);
    /* Is no address known yet, and the first lookup running? Then call get()
     * again soon. Never blocks. Any thread. NULL: never. */
    bool (*asks)(hf__resolver *resolver);
    /* No other call runs or follows. In a forked child only memory is freed. */
    void (*free)(hf__resolver *resolver);
} hf__resolver_ops;

/* A kind of resolver begins with this. */
struct hf__resolver {
    const hf__resolver_ops *ops;
};

/*
 * The addresses of a host name or a path. A name is looked up in the
 * background. Waits for the result until an instant; HF_UNAVAILABLE: no address
 * by then. 0: does not wait (required on a loop thread); get() returns none
 * until there is one.
 */
hf_status hf__resolver_new(const hf__redis_where *where, int64_t until_ms,
                           hf__resolver **resolver, hf_error *err);

void hf__resolver_free(hf__resolver *resolver); /* NULL is allowed */
void hf__resolver_get(hf__resolver *resolver, hf__resolved *resolved);
void hf__resolver_refresh(hf__resolver *resolver);
bool hf__resolver_asks(hf__resolver *resolver);

/* How long to pause before the next get() while asks(), which has lasted since
 * an instant. */
int64_t hf__resolver_pause_ms(int64_t since_ms, int64_t now_ms);

/* Is a host a name, rather than an address? */
bool hf__host_is_name(const char *host);

#endif
