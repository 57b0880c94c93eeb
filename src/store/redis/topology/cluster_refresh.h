/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_refresh.h - asking the cluster how it is now. */
#ifndef HF__STORE_REDIS_CLUSTER_REFRESH_H
#define HF__STORE_REDIS_CLUSTER_REFRESH_H

#include "store/redis/server/route.h"
#include "store/redis/topology/cluster_map.h"

/* Why it is asked, and so how soon again. */
typedef enum hf__refresh_need {
    HF__REFRESH_MOVED,  /* one slot has moved, and others may have */
    HF__REFRESH_BLOCKED /* somebody cannot go on without it */
} hf__refresh_need;

/* A machine takes some nodes with it when it goes. */
#define HF__REFRESH_DOUBTED 4

typedef struct hf__cluster_refresh {
    hf__cluster_map *map;
    /* A map was installed; `lost`: nodes are gone from it. On the loop
     * thread. */
    void (*installed)(struct hf__cluster_refresh *refresh, bool lost);

    pthread_mutex_t mutex; /* guards the next four */
    /* Who did not answer or could not be reached of late, and is asked last.
     * Only compared: it may be gone. */
    const hf__server *doubted[HF__REFRESH_DOUBTED];
    bool running;      /* a round, or the opening */
    int64_t done_ms;   /* when the latest map came */
    int64_t failed_ms; /* when nobody answered */
    int64_t before_ms; /* when the round before the latest had ended */

    /* Of who runs it. */
    bool opening; /* on the thread that opens the store */
    hf__request request;
    hf_bytes words[2];
    char asked[HF__HOST_SIZE]; /* whom */
    const hf__server *server;  /* likewise; only compared */
    size_t from;               /* where among the nodes it began */
    size_t at;                 /* and how far it has come */
    size_t tries;
    const hf__server *late[HF__REFRESH_DOUBTED]; /* doubted when it began */
    bool last;                                   /* it has come to those */
} hf__cluster_refresh;

void hf__cluster_refresh_init(hf__cluster_refresh *refresh,
                              hf__cluster_map *map);
void hf__cluster_refresh_done(hf__cluster_refresh *refresh);

/*
 * For the first time, on the calling thread, until an instant: HF_OK once the
 * map is there. The error is that of the first host, or of the first that was
 * reached.
 */
hf_status hf__cluster_refresh_first(hf__cluster_refresh *refresh,
                                    int64_t until_ms, hf_error *err);

/* Ask in the background, unless that is under way or was done just now. Any
 * thread, never blocks. */
void hf__cluster_refresh_want(hf__cluster_refresh *refresh,
                              hf__refresh_need need);

/* A node does not answer, or cannot be reached: others are asked before it. Any
 * thread, never blocks. */
void hf__cluster_refresh_doubt(hf__cluster_refresh *refresh,
                               const hf__server *server);

/* Has nobody answered since an instant? */
bool hf__cluster_refresh_is_lost(hf__cluster_refresh *refresh,
                                 int64_t since_ms);

/* For the router: is it our own request? Where does it go on? */
static inline bool hf__cluster_refresh_owns(const hf__cluster_refresh *refresh,
                                            const hf__request *request)
{
    return request == &refresh->request;
}
bool hf__cluster_refresh_hand_on(hf__cluster_refresh *refresh,
                                 hf__route *route);

#endif
