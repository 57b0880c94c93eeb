/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_context.h - what all servers of one store share. The topology owns it;
 * it outlives every server that was made with it.
 */
#ifndef HF__STORE_REDIS_STORE_CONTEXT_H
#define HF__STORE_REDIS_STORE_CONTEXT_H

#include "holdfast/client.h"
#include "store/redis/server/wait_group.h"
#include "store/store.h"
#include "util/loop.h"

struct hf__router;

typedef struct hf__store_context {
    hf__loop *loop;
    int64_t connect_ms;
    uint32_t fork_generation;
    struct hf__router *router; /* route.h; NULL: no redirects */
    hf__wait_groups wait_groups;
    char channel[HF__CHANNEL_SIZE]; /* on which the client is woken */
    uint32_t leaving; /* servers retired and not freed yet; a futex */
    uint32_t changes; /* of the topology; a futex */
    void (*on_message)(void *user, hf_bytes topic, hf_bytes text);
    void *on_message_user;
    hf__log_hook *log; /* NULL: none */
} hf__store_context;

void hf__store_context_init(hf__store_context *context,
                            const hf__store_config *config,
                            struct hf__router *router);

/* Is this a forked child of the process that opened the store? */
bool hf__store_context_is_forked(const hf__store_context *context);

/*
 * Refuse what cannot succeed: in a forked child, too long for any server, no
 * time left. true: refused, the request's outcome is set. Also resets `sends`.
 */
bool hf__store_context_refuse(const hf__store_context *context,
                              hf__request *request);

/* The topology has changed: callers that pause before another attempt check
 * again. Any thread. */
void hf__store_context_change(hf__store_context *context);

/* Wait until every retired server is freed. Not on the loop thread. */
void hf__store_context_drain(hf__store_context *context);

#endif
