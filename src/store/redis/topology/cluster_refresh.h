/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_refresh.h - requesting the current slot map. */
#ifndef HF__STORE_REDIS_CLUSTER_REFRESH_H
#define HF__STORE_REDIS_CLUSTER_REFRESH_H

#include "store/redis/server/route.h"
#include "store/redis/topology/cluster_map.h"

/* Why it is requested, and so how soon again. */
typedef enum hf__refresh_need {
    HF__REFRESH_MOVED,  /* one slot has moved, and others may have */
    HF__REFRESH_BLOCKED /* a request cannot continue without it */
} hf__refresh_need;

/* Several nodes may fail with one machine. */
#define HF__REFRESH_DOUBTED 4

typedef struct hf__cluster_refresh {
    hf__cluster_map *map;
    /* A map was installed; `lost`: nodes are gone from it. On the loop
     * thread. */
    void (*installed)(struct hf__cluster_refresh *refresh, bool lost);

    pthread_mutex_t mutex; /* guards the next four */
    /* Nodes that recently did not answer, asked last. Only compared: they may
     * be freed. */
    const hf__server *doubted[HF__REFRESH_DOUBTED];
    bool running;      /* a round, or the opening */
    int64_t done_ms;   /* when the latest map came */
    int64_t failed_ms; /* when the last round failed */
    int64_t before_ms; /* when the round before the latest had ended */

    /* Of the running round. */
    bool opening; /* on the thread that opens the store */
    hf__request request;
    hf_bytes words[2];
    char asked[HF__HOST_SIZE]; /* whom */
    const hf__server *server;  /* likewise; only compared */
    size_t from;               /* where among the nodes it began */
    size_t at;                 /* and its position */
    size_t tries;
    const hf__server *late[HF__REFRESH_DOUBTED]; /* `doubted` when it began */
    bool last;                                   /* it has reached those */
} hf__cluster_refresh;

void hf__cluster_refresh_init(hf__cluster_refresh *refresh,
                              hf__cluster_map *map);
void hf__cluster_refresh_done(hf__cluster_refresh *refresh);

/*
 * The first map, on the calling thread, until an instant. The error is that of
 * the first host, or of the first that was reached.
 */
hf_status hf__cluster_refresh_first(hf__cluster_refresh *refresh,
                                    int64_t until_ms, hf_error *err);

/* Start a round in the background, unless one is running or has just ended. Any
 * thread, never blocks. */
void hf__cluster_refresh_want(hf__cluster_refresh *refresh,
                              hf__refresh_need need);

/* A node does not answer: ask others before it. Any thread, never blocks. */
void hf__cluster_refresh_doubt(hf__cluster_refresh *refresh,
                               const hf__server *server);

/* Has no node answered since an instant? */
bool hf__cluster_refresh_is_lost(hf__cluster_refresh *refresh,
                                 int64_t since_ms);

/* For the router: is it our own request, and which server is next? */
static inline bool hf__cluster_refresh_owns(const hf__cluster_refresh *refresh,
                                            const hf__request *request)
{
    return request == &refresh->request;
}
bool hf__cluster_refresh_hand_on(hf__cluster_refresh *refresh,
                                 hf__route *route);

#endif
