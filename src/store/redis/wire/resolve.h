/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - where one server is at present. What asks (DNS here, sentinels
 * elsewhere) is behind one interface; connections only see addresses.
 */
#ifndef HF__STORE_REDIS_RESOLVE_H
#define HF__STORE_REDIS_RESOLVE_H

#include <sys/socket.h>

#include "holdfast/base.h"
#include "store/redis/wire/address.h"

/* A name with more addresses than this is tried on its first ones. */
#define HF__RESOLVED_MAX 8

typedef struct hf__resolved {
    struct sockaddr_storage items[HF__RESOLVED_MAX];
    socklen_t sizes[HF__RESOLVED_MAX];
    size_t count;              /* 0: not known yet */
    char host[HF__HOST_SIZE];  /* whose certificate is expected; "": a path */
    char text[HF__WHERE_SIZE]; /* "host:port" or a path, for people */
} hf__resolved;

typedef struct hf__resolver hf__resolver;

typedef struct hf__resolver_ops {
    /* Copy what is known. Never blocks. Any thread. */
    void (*get)(hf__resolver *resolver, hf__resolved *resolved);
    /* What is known may be out of date, as a connection failed or the server
     * turned out to be the wrong one: look again in the background. Called as
     * often as that happens. Never blocks, may do nothing. Any thread. */
    void (*refresh)(hf__resolver *resolver);
    /* Is no address known yet, and a question for it under way? Then get() is
     * worth another look in moments. Never blocks. Any thread. NULL: never. */
    bool (*asks)(hf__resolver *resolver);
    /* No call of it runs or follows. In a forked child only memory is freed. */
    void (*free)(hf__resolver *resolver);
} hf__resolver_ops;

/* A kind of resolver begins with this. */
struct hf__resolver {
    const hf__resolver_ops *ops;
};

/*
 * The addresses of a host name or a path. A name is looked up in the
 * background. This waits for the answer until an instant, and is
 * HF_UNAVAILABLE if none has come that names an address; 0: does not wait (no
 * loop thread may), and get() tells of none until there is one.
 */
hf_status hf__resolver_new(const hf__redis_where *where, int64_t until_ms,
                           hf__resolver **resolver, hf_error *err);

void hf__resolver_free(hf__resolver *resolver); /* NULL is allowed */
void hf__resolver_get(hf__resolver *resolver, hf__resolved *resolved);
void hf__resolver_refresh(hf__resolver *resolver);
bool hf__resolver_asks(hf__resolver *resolver);

/* How long to wait for the next look at one that asks, which it has done since
 * an instant. */
int64_t hf__resolver_pause_ms(int64_t since_ms, int64_t now_ms);

/* Is a host a name, which DNS must find? */
bool hf__host_is_name(const char *host);

#endif
