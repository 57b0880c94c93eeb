/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - what every connection to one server needs. Only these parts change
 * while there are connections:
 *
 * - the server's network addresses, from the resolver: each attempt to connect
 *   gets them, and has them refreshed when it failed;
 * - `epoch`, incremented when existing connections must not be used any more
 *   (the server has another address). A connection notes it before it gets the
 *   addresses, and is dropped when it has changed.
 *
 * - `traits`, the server's properties, from the latest login.
 *
 * - `suspected_ms`, see hf__route_suspect(), and `slow_ms`, see
 *   silence_limit.h.
 *
 * The rest is read without a lock.
 */
#ifndef HF__STORE_REDIS_NODE_H
#define HF__STORE_REDIS_NODE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "store/redis/server/login.h"
#include "store/redis/server/store_context.h"
#include "store/redis/wire/address.h"
#include "store/redis/wire/resolve.h"

struct hf__pipeline;
struct hf__server;

typedef struct hf__redis_node {
    hf__store_context *context;
    struct hf__server *server; /* whose it is, and whose first member */
    /* The pipeline for requests that `replicas` replicas must acknowledge;
     * NULL: out of memory. */
    struct hf__pipeline *(*pipeline)(struct hf__redis_node *node,
                                     uint32_t replicas);
    /* One for a request that waits. NULL: its outcome is set. */
    struct hf__pipeline *(*wait_pipeline)(struct hf__redis_node *node,
                                          hf__request *request);
    /* The connection of pipeline(node, 0) broke. On the loop thread. */
    void (*lost)(struct hf__redis_node *node);
    atomic_uint holders; /* of the server */
    hf__task free_task;  /* when the last is gone */
    const hf__redis_account *account;
    hf__resolver *resolver;
    uint32_t epoch;
    uint64_t traits;         /* hf__redis_traits; 0 before the first login */
    int64_t suspected_ms;    /* when it last exceeded the limit; 0: never */
    uint32_t slow_ms;        /* its slowest recent reply */
    int64_t silent_since_ms; /* see hf__redis_node_note_silence(); 0: never */
} hf__redis_node;

static inline hf__redis_node *hf__server_node(struct hf__server *server)
{
    return (hf__redis_node *)(void *)server;
}

_Static_assert(sizeof(hf__redis_traits) == sizeof(uint64_t),
               "traits are read and written as one word");

static inline uint32_t hf__redis_node_epoch(const hf__redis_node *node)
{
    return __atomic_load_n(&node->epoch, __ATOMIC_ACQUIRE);
}

static inline void hf__redis_node_learn(hf__redis_node *node,
                                        const hf__redis_traits *traits)
{
    uint64_t word;

    memcpy(&word, traits, sizeof(word));
    __atomic_store_n(&node->traits, word, __ATOMIC_RELAXED);
}

static inline hf__redis_traits hf__redis_node_traits(const hf__redis_node *node)
{
    uint64_t word = __atomic_load_n(&node->traits, __ATOMIC_RELAXED);
    hf__redis_traits traits;

    memcpy(&traits, &word, sizeof(traits));
    return traits;
}

/* A connection has been silent since this instant of hf__clock_boot_ms(), while
 * a new one could be made: a device in between has lost it, and perhaps all
 * that were made before. */
static inline void hf__redis_node_note_silence(hf__redis_node *node,
                                               int64_t since_ms)
{
    __atomic_store_n(&node->silent_since_ms, since_ms, __ATOMIC_RELAXED);
}

/* Rather than wait for its reply, make a new one in place of a connection that
 * was last heard at this instant. */
static inline bool hf__redis_node_distrusts(const hf__redis_node *node,
                                            int64_t heard_ms)
{
    return heard_ms < __atomic_load_n(&node->silent_since_ms, __ATOMIC_RELAXED);
}

/*
 * Reference counts: a thread that gets a server from a table that may change
 * holds it until its call has returned. The last release frees it, while a
 * store is in use only after hf__server_retire(). Any thread.
 */
void hf__server_hold(struct hf__server *server);
void hf__server_release(struct hf__server *server);

#endif
